// Modules and style sheets that are fetched when they are needed.

const sheets = new Map();

/** addStyle adds a style sheet to the page, once, and waits until it holds. */
export function addStyle(url) {
  const { href } = new URL(url, document.baseURI);
  if (!sheets.has(href)) {
    sheets.set(
      href,
      new Promise((resolve, reject) => {
        const link = document.createElement("link");
        link.rel = "stylesheet";
        link.addEventListener("load", resolve);
        link.addEventListener("error", () => reject(new Error(`${href} could not be loaded`)));
        link.href = href;
        document.head.append(link);
      }).catch((error) => {
        sheets.delete(href);
        throw error;
      }),
    );
  }
  return sheets.get(href);
}

/**
 * lazy returns a function that loads a module, with the style sheets beside it, once, and returns its View.
 * @param {() => Promise<{View: Function}>} load
 * @param {...string} styles addresses of style sheets
 */
export function lazy(load, ...styles) {
  let view;
  return () => {
    view ??= Promise.all([load(), ...styles.map(addStyle)]).then(
      ([module]) => module.View,
      (error) => {
        view = undefined; // the next visit tries again
        throw error;
      },
    );
    return view;
  };
}
