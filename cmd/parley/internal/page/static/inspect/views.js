// The views, a line each. View({connection, route}) shows it. A view of a connection may be shown only
// where the connection has what it is about, and may have a number beside its title.

import { View as ChecksView } from "./checks.js";
import { View as CompareView } from "./compare.js";
import { View as ConnectView } from "./connect.js";
import { View as LogView } from "./log.js";
import { View as OverviewView } from "./overview.js";
import { View as PromptsView } from "./prompts.js";
import { View as QuestionsView } from "./questions.js";
import { View as ResourcesView } from "./resources.js";
import { View as RootsView } from "./roots.js";
import { View as SkillsView } from "./skills.js";
import { View as TasksView } from "./tasks.js";
import { View as ToolsView } from "./tools.js";
import { View as TrafficView } from "./traffic.js";

const has = (...features) => (connection) => features.some((feature) => connection.features?.includes(feature));
const always = () => true;

/** Views of one connection: #/c1/ID. After g, key leads to it. */
export const views = [
  { id: "overview", key: "o", title: "Overview", shown: always, View: OverviewView },
  { id: "tools", key: "t", title: "Tools", shown: has("tools"), View: ToolsView },
  { id: "resources", key: "r", title: "Resources", shown: has("resources"), View: ResourcesView },
  { id: "prompts", key: "p", title: "Prompts", shown: has("prompts"), View: PromptsView },
  { id: "tasks", key: "k", title: "Tasks", shown: has("tasks"), View: TasksView },
  { id: "skills", key: "s", title: "Skills", shown: has("skills"), View: SkillsView },
  { id: "questions", key: "q", title: "Questions", shown: always, badge: (connection) => connection.counts?.questions, View: QuestionsView },
  { id: "log", key: "l", title: "Log", shown: always, View: LogView },
  { id: "roots", key: "d", title: "Roots", shown: always, View: RootsView },
  { id: "traffic", key: "f", title: "Traffic", shown: always, View: TrafficView },
  { id: "checks", key: "j", title: "Checks", shown: always, View: ChecksView },
];

/** Pages of no connection: #/ID. */
export const pages = [
  { id: "home", key: "h", title: "Connect", View: ConnectView },
  { id: "compare", key: "c", title: "Compare", View: CompareView },
];
