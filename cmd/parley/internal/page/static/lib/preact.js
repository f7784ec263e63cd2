// What pages are made of: Preact, its hooks, and html, which is htm bound to Preact.

import { Fragment, cloneElement, createContext, createElement, h, render } from "../vendor/preact.mjs";
import htm from "../vendor/htm.mjs";

export { Fragment, cloneElement, createContext, createElement, h, render };
export { useCallback, useContext, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useReducer, useRef, useState } from "../vendor/hooks.mjs";

/** html makes elements of a template: html`<p class=${name}>${text}</p>`. Texts are only ever text. */
export const html = htm.bind(h);
