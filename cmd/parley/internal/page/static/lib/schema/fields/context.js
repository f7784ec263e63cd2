// What all fields of one form share.

import { Marked, label } from "../../content.js";
import { createContext, html, useContext } from "../../preact.js";

/**
 * Form is what the fields of a form share: its document, the errors by place, how IDs begin, and
 * draft(pointer, message), which notes what was typed and is no value yet.
 */
export const Form = createContext(null);

/** useForm returns what the fields share. */
export const useForm = () => useContext(Form);

/** idOf returns the ID of the control at a place. */
export const idOf = (prefix, pointer) => `${prefix}:${encodeURIComponent(pointer)}`;

/** errorsAt returns what is wrong at a place, as one text, or undefined. */
export const errorsAt = (form, pointer) => form.errors.get(pointer)?.join("; ");

/** called is what buttons call a field, so that each has a name of its own in its form. */
export const called = ({ name, title }) => label(name || title || "the value", 120);

/** Said is a text of the server's, or nothing. */
export const Said = ({ text }) => (typeof text === "string" && text !== "" ? html`<${Marked} text=${text.length > 2000 ? `${text.slice(0, 2000)}…` : text} lines />` : null);
