// A part of the page that can fail alone.

import { html, useErrorBoundary } from "../preact.js";
import { Button } from "./controls.js";
import { ErrorBox } from "./show.js";

/**
 * Contained shows its children; when they fail, it says so in their place, and nothing else of the page goes with them.
 * @param {{title: string}} props what the children are
 */
export function Contained({ title, children }) {
  const [failed, reset] = useErrorBoundary((error) => console.error(error));
  if (!failed) return children;
  return html`<h1>${title}</h1><${ErrorBox} error=${{ message: `${title} cannot be shown`, hint: String(failed.message ?? failed) }}><${Button} onClick=${reset}>Try again<//><//>`;
}
