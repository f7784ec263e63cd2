// The frame that an app is in, and the one way to and from it: messages of the sandbox proxy,
// which has an origin of its own.

const patience = 1000; // milliseconds for an app to end
const mostStrays = 2000; // messages a second that come from nowhere the page knows

/**
 * connect has a frame show an app.
 * @param {{element: HTMLIFrameElement, frame: {url: string, permissions: object, csp?: object}, html: string, onMessage: (data: unknown) => void, onDropped: (what: {count: number, why: string}) => void, onStop: (why: string) => void}} options
 * @returns {{send: (message: object) => void, end: () => void}}
 */
export function connect({ element, frame, html, onMessage, onDropped, onStop }) {
  const { origin } = new URL(frame.url);
  const { permissions, csp } = frame;
  let shown = false;
  let strays = 0;
  const calm = setInterval(() => (strays = 0), 1000);
  const send = (message) => element.contentWindow?.postMessage(message, origin);
  const receive = (event) => {
    // An app can reach the page's window, but not speak from where the proxy does.
    if (event.source !== element.contentWindow || event.origin !== origin) {
      if (event.source !== window && ++strays === mostStrays) onStop("It flooded this page with messages, and was stopped.");
      return;
    }
    const { data } = event;
    if (data?.method === "ui/notifications/sandbox-dropped") {
      onDropped(data.params);
    } else if (data?.method === "ui/notifications/sandbox-left") {
      onStop("It tried to go elsewhere, and was stopped.");
    } else if (data?.method !== "ui/notifications/sandbox-proxy-ready") {
      onMessage(data);
    } else if (!shown) {
      shown = true;
      send({ jsonrpc: "2.0", method: "ui/notifications/sandbox-resource-ready", params: { html, csp, permissions } });
    }
  };
  addEventListener("message", receive);
  return {
    send,
    end() {
      clearInterval(calm);
      removeEventListener("message", receive);
    },
  };
}

/** within returns what a promise becomes, or undefined if an app does not get there. */
export const within = (promise) => Promise.race([promise, new Promise((done) => setTimeout(done, patience))]);
