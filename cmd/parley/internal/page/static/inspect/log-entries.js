// The messages of a log: what is known grows by what is new.

/**
 * asked returns what to ask for: after what is known.
 * @param {{level: string, q: string}} filter
 * @param {{last: number}|undefined} known
 */
export const asked = (filter, known) => (known ? { ...filter, after: known.last || undefined } : filter);

/**
 * grown returns what is known together with the answer to what was asked, without what is no
 * longer kept.
 * @param {{entries: {n: number}[]}|undefined} known
 * @param {{entries: {n: number}[], first: number, last: number, dropped: number}} answer
 */
export function grown(known, answer) {
  if (!known) return answer;
  const gone = known.entries.findIndex(({ n }) => n >= answer.first);
  const rest = gone < 0 ? [] : known.entries.slice(gone);
  return { ...answer, entries: rest.concat(answer.entries) };
}
