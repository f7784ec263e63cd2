import { parse, stringify } from "../../json.js";
import { html, useEffect, useState } from "../../preact.js";
import { TextArea } from "../../ui.js";
import { useForm } from "./context.js";

/** useDraft is a text that somebody types, for a value that it stands for as soon as it can be read. */
export function useDraft(pointer, value, write, read, onChange) {
  const { draft } = useForm();
  const written = value === undefined ? "" : write(value);
  const [state, setState] = useState({ text: written, written, wrong: "" });
  const current = state.written === written ? state : { text: written, written, wrong: "" };
  useEffect(() => {
    draft(pointer, current.wrong);
    return () => draft(pointer, "");
  }, [pointer, current.wrong]);
  const type = (text) => {
    try {
      const next = read(text);
      setState({ text, written: next === undefined ? "" : write(next), wrong: "" });
      onChange(next);
    } catch (error) {
      setState({ text, written, wrong: error.message });
    }
  };
  return [current, type];
}

const readJSON = (fixed) => (text) => {
  if (text.trim() !== "") return parse(text);
  if (fixed) throw new SyntaxError("There has to be a value here.");
  return undefined;
};

const most = 100_000; // characters that a field shows

/** JsonInput is a field for any value, as JSON. It never takes what is not JSON. */
export function JsonInput({ at, value, onChange, fixed = false, rows, ...rest }) {
  const [{ text }, type] = useDraft(at, value, (v) => stringify(v, 2), readJSON(fixed), onChange);
  const lines = Math.min(20, text.slice(0, most).split("\n").length);
  return html`<${TextArea} value=${text} onInput=${type} rows=${rows ?? Math.max(2, lines)} placeholder=${fixed ? "null" : ""} ...${rest} />`;
}
