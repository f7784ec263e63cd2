// The page between the host and the app, of an origin of its own. The app inherits the
// policy that this page is served with.

const inner = document.querySelector("iframe");
const host = new URL(document.referrer).origin;

addEventListener("message", ({ source, origin, data }) => {
  if (source === inner.contentWindow) parent.postMessage(data, host);
  if (source !== parent || origin !== host) return;
  if (data?.method !== "ui/notifications/sandbox-resource-ready") {
    inner.contentWindow.postMessage(data, "*");
    return;
  }
  const { document: page } = inner.contentWindow;
  page.open();
  page.write(data.params.html);
  page.close();
});
parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} }, host);
