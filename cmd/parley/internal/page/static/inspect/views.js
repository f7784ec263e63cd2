// The views, a line each. load fetches the module NAME.js, which exports View({connection, route}),
// when it is visited for the first time. A view of a connection may be shown only where the
// connection has what it is about, and may have a number beside its title.

import { lazy } from "../lib/load.js";

const has = (...features) => (connection) => features.some((feature) => connection.features?.includes(feature));
const always = () => true;
const at = (name) => new URL(name, import.meta.url).href;

/** Views of one connection: #/c1/ID. After g, key leads to it. */
export const views = [
  { id: "overview", key: "o", title: "Overview", shown: always, load: lazy(() => import("./overview.js"), at("overview.css")) },
  { id: "tools", key: "t", title: "Tools", shown: has("tools"), load: lazy(() => import("./tools.js"), at("tools.css")) },
  { id: "resources", key: "r", title: "Resources", shown: has("resources"), load: lazy(() => import("./resources.js"), at("features.css")) },
  { id: "prompts", key: "p", title: "Prompts", shown: has("prompts"), load: lazy(() => import("./prompts.js"), at("features.css")) },
  { id: "tasks", key: "k", title: "Tasks", shown: has("tasks"), load: lazy(() => import("./tasks.js"), at("tasks.css")) },
  { id: "skills", key: "s", title: "Skills", shown: has("skills"), load: lazy(() => import("./skills.js"), at("features.css")) },
  { id: "questions", key: "q", title: "Questions", shown: always, badge: (connection) => connection.counts?.questions, load: lazy(() => import("./questions.js"), at("features.css")) },
  { id: "log", key: "l", title: "Log", shown: always, load: lazy(() => import("./log.js"), at("features.css")) },
  { id: "roots", key: "d", title: "Roots", shown: always, load: lazy(() => import("./roots.js"), at("features.css")) },
  { id: "traffic", key: "f", title: "Traffic", shown: always, load: lazy(() => import("./traffic.js"), at("traffic.css")) },
  { id: "checks", key: "j", title: "Checks", shown: always, load: lazy(() => import("./checks.js"), at("checks.css")) },
];

/** Pages of no connection: #/ID. */
export const pages = [
  { id: "home", key: "h", title: "Connect", load: lazy(() => import("./connect.js"), at("connect.css")) },
  { id: "compare", key: "c", title: "Compare", load: lazy(() => import("./compare.js"), at("compare.css")) },
];
