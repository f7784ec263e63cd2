// Apps in their frames, as the scenarios reach them.

import { until } from "../lib.mjs";

/**
 * mount has the page show the app of a tool, beside what is there, for a call that is made
 * now. Scenarios that are about the view of tools click there instead.
 */
export async function mount(tab, name, args = {}, connection = "c1") {
  await tab.page.evaluate(
    async (name, args, connection) => {
      const { api, html, render, App } = await import("/page.js");
      const { items } = await api.get(`/connections/${connection}/lists/tools`);
      const tool = items.find((one) => one.name === name);
      const { id } = await api.post(`/connections/${connection}/calls`, { method: "tools/call", params: { name, arguments: args } });
      let call;
      do {
        await new Promise((done) => setTimeout(done, 50));
        call = await api.get(`/connections/${connection}/calls/${id}`);
      } while (call.state === "running");
      globalThis.unmountApp?.();
      const place = document.createElement("div");
      place.id = "mounted";
      document.querySelector("main").append(place);
      render(html`<${App} connection=${connection} tool=${tool} args=${args} result=${call.result} />`, place);
      globalThis.unmountApp = () => {
        render(null, place);
        place.remove();
      };
    },
    name,
    args,
    connection,
  );
}

/** proxy returns the frame of the sandbox, and inner the frame that the app is in. */
export const proxy = (tab) => tab.page.frames().find((frame) => frame.parentFrame() === tab.page.mainFrame());
export const inner = (tab) => until(() => tab.page.frames().find((frame) => frame.parentFrame() && frame.parentFrame() === proxy(tab)), "the frame of the app");
