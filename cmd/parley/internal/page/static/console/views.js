// The views of the console, a line each. View({route, overview, can}) shows it. After g, key
// leads to it; badge is a number beside its title.

import { View as ApprovalsView } from "./approvals.js";
import { View as AuditView } from "./audit.js";
import { View as BackendsView } from "./backends.js";
import { View as CostsView } from "./costs.js";
import { View as ExchangesView } from "./exchanges.js";
import { View as LoginsView } from "./logins.js";
import { View as OverviewView } from "./overview.js";
import { View as PinsView } from "./pins.js";
import { View as PolicyView } from "./policy.js";
import { View as ScanView } from "./scan.js";
import { View as SessionsView } from "./sessions.js";

export const views = [
  { id: "home", key: "o", title: "Overview", View: OverviewView },
  { id: "approvals", key: "a", title: "Approvals", badge: (o) => o.approvals, View: ApprovalsView },
  { id: "pins", key: "p", title: "Pins", badge: (o) => o.pins, View: PinsView },
  { id: "backends", key: "b", title: "Backends", View: BackendsView },
  { id: "sessions", key: "s", title: "Sessions", View: SessionsView },
  { id: "exchanges", key: "e", title: "Exchanges", View: ExchangesView },
  { id: "audit", key: "u", title: "Audit", View: AuditView },
  { id: "policy", key: "t", title: "Policy tester", View: PolicyView },
  { id: "scan", key: "f", title: "Scan", View: ScanView },
  { id: "costs", key: "c", title: "Costs", View: CostsView },
  { id: "logins", key: "l", title: "Logins", View: LoginsView },
];
