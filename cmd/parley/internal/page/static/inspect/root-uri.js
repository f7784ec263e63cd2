// The URI of a root, of what was typed.

const letters = /^[A-Za-z]:/; // of a drive

/** uriOf makes a file URI of a path, or says what is wrong with it; a URI is left as it is. */
export function uriOf(text) {
  if (/^[a-z][a-z0-9+.-]+:/i.test(text)) return { uri: text };
  const path = text.replaceAll("\\", "/");
  if (path.startsWith("~")) return { wrong: "Write the whole path: the page does not know where your home folder is." };
  if (!path.startsWith("/") && !/^[A-Za-z]:\//.test(path)) return { wrong: "Write the whole path, such as /home/me/project." };
  return { uri: `file://${path.startsWith("/") ? "" : "/"}${path.split("/").map((part, i) => (i === 0 && letters.test(part) ? part : encodeURIComponent(part))).join("/")}` };
}

const plain = (uri) => uri.replace(/\/+$/, "");

/** sameRoot says whether two URIs are of one folder. */
export const sameRoot = (one, other) => plain(one) === plain(other);
