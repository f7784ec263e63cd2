// The key that the page proves itself with. It comes in the fragment of the address, once.

const name = "parley-key";

export const base = "/api/v1";

/** headers are those of a request to the API. */
export function headers() {
  return { "Parley-Key": localStorage.getItem(name) ?? "", Accept: "application/json" };
}

/** setKey keeps a key that somebody who logged in was given; null forgets it. */
export function setKey(key) {
  if (key === null) localStorage.removeItem(name);
  else localStorage.setItem(name, key);
}

/**
 * takeKey takes a key out of the address, and out of the history.
 * @returns {{used: boolean, fresh: boolean}} whether the address was that of a code that has been used already, and whether it had a key
 */
export function takeKey() {
  const { hash } = location;
  const fresh = hash.startsWith("#key=");
  const used = hash === "#refused";
  if (fresh) setKey(hash.slice("#key=".length));
  if (fresh || used) history.replaceState(null, "", "/#/");
  return { used, fresh };
}

const listeners = new Set();

/** turnedAway tells whoever wants to know that the server does not know this page (any more). */
export function turnedAway() {
  for (const listener of listeners) listener();
}

/** onTurnedAway has f called then. It returns a function that ends this. */
export function onTurnedAway(f) {
  listeners.add(f);
  return () => listeners.delete(f);
}
