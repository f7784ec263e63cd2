// Tasks: calls that servers work on apart from the connection that made them.

import { api, useGet } from "../lib/api.js";
import { label } from "../lib/content.js";
import { html, useEffect, useState } from "../lib/preact.js";
import { go, href } from "../lib/route.js";
import { Badge, Button, Copy, Duration, Empty, ErrorBox, Facts, Field, Json, Notice, Spinner, Split, TextInput, Time, VirtualList, announce } from "../lib/ui.js";
import { CallView, Result } from "./call.js";

const final = (status) => ["completed", "failed", "cancelled"].includes(status);

/** View lists the tasks of a connection that are known, and shows one. */
export function View({ connection, route }) {
  const path = `/connections/${connection.id}/tasks`;
  const { data, error, reload } = useGet(path, {}, { task: (event) => event.connection === connection.id });
  const tasks = data?.tasks ?? [];
  const [key] = route.rest;
  const picked = tasks.findIndex((task) => task.key === key);
  if (!data) return error ? html`<${ErrorBox} error=${error} />` : html`<${Spinner} label="Loading the tasks" />`;
  const list = html`<${Ask} path=${path} reload=${reload} />
    <${VirtualList} count=${tasks.length} rowHeight=${52} label="Tasks" selected=${picked} keyOf=${(i) => tasks[i].key} onPick=${(i) => go([connection.id, "tasks", tasks[i].key])} row=${(i) => html`<${Row} known=${tasks[i]} />`}
      empty=${html`<${Empty} title="No tasks are known.">Calls that become tasks are listed here.<//>`} />
    <${Enter} path=${path} onEntered=${(entered) => (reload(), go([connection.id, "tasks", entered]))} />`;
  const detail = picked >= 0 ? html`<${Task} key=${key} connection=${connection} known=${tasks[picked]} path=${`${path}/${key}`} route=${route} reload=${reload} />` : html`<${Empty} title=${key === undefined ? "Pick a task" : "There is no such task (any more)."} />`;
  return html`<${Split} label="Tasks" list=${list} detail=${detail} detailLabel="Task" />`;
}

/** Ask has the server list its tasks, where the revision has that. */
function Ask({ path, reload }) {
  const [said, setSaid] = useState("");
  const [error, setError] = useState(undefined);
  const [busy, setBusy] = useState(false);
  const ask = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const { listed, error: failure } = await api.get(path, { fresh: 1 });
      setError(failure);
      setSaid(listed ? "" : "This server does not list its tasks: those are shown that are known here.");
      reload();
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return html`<div class="row"><h1 class="grow">Tasks</h1><${Button} onClick=${ask} busy=${busy}>Ask the server<//></div>
    ${said && html`<p class="faint" role="status">${said}</p>`}<${ErrorBox} error=${error} />`;
}

function Enter({ path, onEntered }) {
  const [id, setId] = useState("");
  const [error, setError] = useState(undefined);
  const enter = async (event) => {
    event.preventDefault();
    try {
      const { key } = await api.post(path, { taskId: id });
      setId("");
      setError(undefined);
      onEntered(key);
    } catch (failure) {
      setError(failure);
    }
  };
  return html`<form onSubmit=${enter} class="enter-task">
    <${Field} label="A task from elsewhere" hint="Its whole ID." error=${error?.message}><${TextInput} value=${id} onInput=${setId} /><//>
    <${Button} type="submit" disabled=${id === ""}>Look it up<//>
  </form>`;
}

const kinds = { completed: "good", failed: "error", cancelled: "warning", input_required: "warning", working: "accent" };

const Status = ({ status }) => html`<${Badge} kind=${kinds[status] ?? ""}>${label(status || "not asked yet", 40).replace("_", " ")}<//>`;

const Row = ({ known }) => html`<div class="task-row">
  <div class="cut"><${Status} status=${known.task.status} /> <strong>${label(known.tool || "a task", 100)}</strong></div>
  <div class="cut faint"><code>${label(known.task.taskId, 60)}</code> ${label(known.task.statusMessage ?? "", 120)}</div>
</div>`;

const soonest = 1000; // milliseconds between two looks at a task
const latest = 30_000;

/** useTask returns the state of a task, which is asked for again as often as the server wants, until it has ended. */
function useTask(connection, path, key) {
  const { data, error, reload } = useGet(path, {}, { task: (event) => event.connection === connection.id && event.key === key && event.state !== "removed" });
  const status = data?.task?.status;
  useEffect(() => {
    if (!data || final(status) || data.error) return undefined;
    const wait = Math.max(soonest, Math.min(latest, Number(data.task.pollIntervalMs ?? 2000)));
    const timer = setTimeout(() => document.visibilityState === "visible" && reload(), wait);
    return () => clearTimeout(timer);
  }, [data]);
  useEffect(() => {
    if (status) announce(`The task is ${status.replace("_", " ")}`);
  }, [status]);
  return { data, error, reload };
}

function Task({ connection, known, path, route, reload: reloadList }) {
  const { data, error, reload } = useTask(connection, path, known.key);
  const [failure, setFailure] = useState(undefined);
  const { task } = data ?? known;
  const act = (what, then) => async () => {
    setFailure(undefined);
    try {
      const done = await what();
      if (then) then(done);
      else reload();
    } catch (why) {
      setFailure(why);
      reload();
    }
  };
  const follow = act(() => api.post(`${path}/follow`), ({ id }) => go([connection.id, "tasks", known.key], { call: id }));
  const forget = act(() => api.del(path), () => (reloadList(), go([connection.id, "tasks"])));
  const { call, asking, askError } = data ?? known;
  const state = data?.state;
  const gone = data?.error;
  return html`<article>
    <h2>${label(known.tool || "Task", 200)}</h2>
    <p class="row"><${Status} status=${task.status || (gone ? "unknown" : "")} />${task.statusMessage && html`<span>${label(task.statusMessage, 500)}</span>`}</p>
    <${ErrorBox} error=${error ?? gone ?? failure ?? askError} />
    ${task.status === "input_required" && html`<${Notice} kind="warning" title="The task waits for an answer.">
      ${call || asking ? html`<a href=${href([connection.id, "questions"])}>Answer it among the questions</a>` : html`<p>Nobody asks its questions here yet.</p><${Button} onClick=${act(() => api.post(`${path}/answer`))}>Have it ask<//>`}
    <//>`}
    <div class="row task-buttons">
      <${Button} kind="primary" onClick=${follow} disabled=${Boolean(gone)}>${call ? `Show call ${call}` : final(task.status) ? "Get the result" : "Follow to the end"}<//>
      <${Button} kind="danger" onClick=${act(() => api.post(`${path}/cancel`))} disabled=${final(task.status) || Boolean(gone)}>Cancel the task<//>
      <${Button} kind="plain" onClick=${reload}>Ask again<//>
      <${Button} kind="plain" onClick=${forget}>Forget it here<//>
    </div>
    ${route.params.call && html`<${CallView} key=${route.params.call} connection=${connection} id=${route.params.call} inTask onGone=${() => go([connection.id, "tasks", known.key])} onEnd=${reload} />`}
    <${TaskFacts} task=${task} seen=${data?.seen ?? known.seen} />
    ${state?.result !== undefined && !route.params.call && html`<h3>Result</h3><${Result} connection=${connection} call=${{ id: known.key, result: state.result, isError: state.result?.isError === true }} />`}
    ${state?.error !== undefined && html`<h3>Error</h3><${Json} value=${state.error} label="Error" />`}
    ${state?.inputRequests !== undefined && html`<h3>What it asks</h3><${Json} value=${state.inputRequests} open=${3} label="Questions of the task" />`}
    ${state !== undefined && html`<details><summary>State as the server sent it</summary><${Json} value=${state} open=${2} label="State" /></details>`}
  </article>`;
}

const keeps = (ttl) => (ttl === null ? "without limit" : ttl === undefined ? "" : html`for <${Duration} ms=${ttl} /> from its creation`);

const TaskFacts = ({ task, seen }) => html`<div class="task-facts"><${Facts} facts=${[
  ["ID", html`<code>${label(task.taskId, 400)}</code> <${Copy} text=${String(task.taskId)} />`],
  ["Created", task.createdAt && html`<${Time} at=${task.createdAt} />`],
  ["Updated", task.lastUpdatedAt && html`<${Time} at=${task.lastUpdatedAt} />`],
  ["Kept", task.status && keeps(task.ttlMs)],
  ["To be asked", task.pollIntervalMs !== undefined && task.pollIntervalMs !== null && html`every <${Duration} ms=${task.pollIntervalMs} />`],
  ["Seen", seen && html`<${Time} at=${seen} />`],
]} /></div>`;
