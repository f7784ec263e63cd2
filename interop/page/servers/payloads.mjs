// Texts that try to be more than texts. Each calls canary(), which the suite gives to the
// page, or asks for something of CANARY, where the suite listens: neither must ever happen.

/**
 * payloads returns the texts.
 * @param {string} canary an origin
 */
export function payloads(canary) {
  const run = `canary('text')`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="${run}"><script>${run}</script><image href="${canary}/svg"/><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="javascript:top.${run}"/></foreignObject></svg>`;
  return {
    script: `<script>${run}</script><script src="${canary}/script.js"></script>`,
    handlers: `"><img src=x onerror="${run}"><img src="${canary}/img"><svg/onload=${run}><details open ontoggle=${run}><input autofocus onfocus=${run}>`,
    frames: `<iframe src="javascript:top.${run}"></iframe><iframe srcdoc="&lt;script&gt;top.${run}&lt;/script&gt;"></iframe><object data="${canary}/object"></object><embed src="${canary}/embed">`,
    attributes: `' onmouseover='${run}' x='" onclick="${run}" style="background:url(${canary}/style)`,
    javascript: `javascript:${run}`,
    hiddenScheme: `java\tscript:${run}//%0a\u0001`,
    data: `data:text/html,<script>opener.${run}</script>`,
    svg,
    svgData: `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`,
    remote: `${canary}/remote.png`,
    markdown: `# [a](javascript:${run})\n![i](${canary}/markdown.png) [b](data:text/html;base64,PHNjcmlwdD4=) <a href="javascript:${run}">c</a>\n\n[d](<javascript:${run}> "t") ![e][1] <javascript:${run}>\n\n[1]: ${canary}/reference.png\n\n| <img src=x onerror=${run}> | b |\n|---|---|\n| \`<script>${run}</script>\` | [x](//${new URL(canary).host}/x) |\n\n<style>@import "${canary}/css";</style>\n`,
    css: `</style><style>*{background:url(${canary}/css)}</style>;}body{background:url("${canary}/css2")}@import url(${canary}/css3);`,
    template: `\${${run}} {{constructor.constructor("${run}")()}} <%= ${run} %> #{${run}} \`+${run}+\` [[\${${run}}]]`,
    proto: `__proto__`,
    entities: `&lt;script&gt;${run}&lt;/script&gt;&#60;img src=x onerror=${run}&#62;\\u003cscript\\u003e${run}\\u003c/script\\u003e`,
    breakout: `]]>--></textarea></title></noscript></template></xmp><script>${run}</script><!--`,
    terminal: `\u001b[2J\u001b]0;owned\u0007\u001b]8;;${canary}/osc\u0007link\u001b]8;;\u0007\u009b31m\u0000\u0008\u007f`,
    bidi: `safe\u202egpj.exe\u2066 \u200bhidden\u200d ${String.fromCodePoint(...[..."obey me"].map((c) => 0xe0000 + c.charCodeAt(0)))} A${"\u0301".repeat(500)}`,
    nobodys: `\ufffe \uffff \ue000 \u{10ffff}`,
    newlines: `one\r\nevent: call\r\ndata: {"forged":true}\r\n\r\ntwo\u2028three\u2029four`,
    long: `${"long ".repeat(2000)}<img src=x onerror=${run}>`,
    unbroken: "W".repeat(20_000),
    vnode: `{"type":"img","props":{"src":"x","onerror":"${run}","dangerouslySetInnerHTML":{"__html":"<img src=x onerror=${run}>"}},"__v":1,"constructor":null}`,
    path: `../../../../api/v1/connections?x=<img src=x onerror=${run}>#/c1/tools`,
  };
}

/** halves is a text that is no Unicode: a message that has it is refused whole. */
export const halves = `\ud800 <img src=x onerror=canary('halves')> \udfff`;

/** vnode is an object that wants to be taken for an element. */
export const vnode = { type: "img", props: { src: "x", onerror: "canary('vnode')", dangerouslySetInnerHTML: { __html: "<img src=x onerror=canary('vnode')>" } }, key: null, ref: null, __v: 1, constructor: null };

/** polluting is JSON whose members want to become those of every object. */
export const polluting = `{"__proto__":{"polluted":"yes","shown":true,"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=canary('proto')>"}},"constructor":{"prototype":{"polluted":"yes"}},"toString":"no","hasOwnProperty":1,"length":-1}`;
