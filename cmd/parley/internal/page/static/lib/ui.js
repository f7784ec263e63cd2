// The parts that all views are made of.

export { Button, Check, Field, IconButton, SearchBox, Select, TextArea, TextInput } from "./ui/controls.js";
export { Announce, Announcements, announce } from "./ui/announce.js";
export { Contained } from "./ui/contained.js";
export { Badge, Copy, Duration, Empty, ErrorBox, Facts, Masked, Notice, Spinner, Time, timeOf } from "./ui/show.js";
export { Dialog, Sure } from "./ui/dialog.js";
export { Menu } from "./ui/menu.js";
export { Split } from "./ui/split.js";
export { Tabs } from "./ui/tabs.js";
export { Json, quote } from "./ui/jsontree.js";
export { VirtualList } from "./ui/virtuallist.js";
