// What can be reached from outside a packed page: `const { api } = await import("/page.js")`, in
// the console of a browser's developer tools, and in scenarios. The page itself needs none of it.

export { api } from "./api.js";
export { Blocks, Marked, SafeLink, Text } from "./content.js";
export { stringify } from "./json.js";
export { live } from "./live.js";
export { html, render } from "./preact.js";
export { VirtualList } from "./ui.js";
