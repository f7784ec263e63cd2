// The views of the console, a line each. load fetches the module when it is visited for the
// first time. After g, key leads to a view; badge is a number beside its title.

import { lazy } from "../lib/load.js";

export const views = [
  { id: "home", key: "o", title: "Overview", load: lazy(() => import("./overview.js")) },
  { id: "approvals", key: "a", title: "Approvals", badge: (o) => o.approvals, load: lazy(() => import("./approvals.js")) },
  { id: "pins", key: "p", title: "Pins", badge: (o) => o.pins, load: lazy(() => import("./pins.js")) },
  { id: "backends", key: "b", title: "Backends", load: lazy(() => import("./backends.js")) },
  { id: "sessions", key: "s", title: "Sessions", load: lazy(() => import("./sessions.js")) },
  { id: "exchanges", key: "e", title: "Exchanges", load: lazy(() => import("./exchanges.js")) },
  { id: "audit", key: "u", title: "Audit", load: lazy(() => import("./audit.js")) },
  { id: "policy", key: "t", title: "Policy tester", load: lazy(() => import("./policy.js")) },
  { id: "scan", key: "f", title: "Scan", load: lazy(() => import("./scan.js")) },
  { id: "costs", key: "c", title: "Costs", load: lazy(() => import("./costs.js")) },
  { id: "logins", key: "l", title: "Logins", load: lazy(() => import("./logins.js")) },
];
