// The numbers of the frames that a filter wants, as runs: what is known grows by what is new.

/**
 * asked returns what to ask for: after what is known. Which frames belong to an exchange is found
 * out later than they are seen, so those of one are asked for anew.
 * @param {object} filter
 * @param {{through: number}|undefined} known
 */
export const asked = (filter, known) => (known && !filter.exchange ? { ...filter, after: known.through || undefined } : filter);

/**
 * grown returns what is known together with the answer to what was asked, without the frames that
 * are gone.
 * @param {{runs: [number, number][], through: number}|undefined} known
 * @param {{runs: [number, number][], through: number, state: {first: number}}} answer
 * @param {object} filter
 */
export function grown(known, answer, filter) {
  if (!known || filter.exchange) return answer;
  const { first } = answer.state;
  const gone = known.runs.findIndex(([, last]) => last >= first);
  const runs = gone < 0 ? [] : known.runs.slice(gone);
  if (runs.length > 0) runs[0] = [Math.max(runs[0][0], first), runs[0][1]];
  const [next, ...others] = answer.runs;
  const end = runs.at(-1);
  if (next && end && end[1] + 1 === next[0]) runs[runs.length - 1] = [end[0], next[1]];
  else if (next) runs.push(next);
  return { ...answer, runs: runs.concat(others), through: Math.max(known.through, answer.through) };
}

/**
 * marked returns runs with marks between them, each before the frame after it; one after which no
 * frame was found is left out.
 * @param {[number, number][]} runs
 * @param {number[]} marks in order, each half a frame less than the one that it stands before
 */
export function marked(runs, marks) {
  const all = [];
  let next = 0;
  for (const [first, last] of runs) {
    let from = first;
    for (; next < marks.length && marks[next] < last; next++) {
      const mark = marks[next];
      if (mark > from) {
        all.push([from, mark - 0.5]);
        from = mark + 0.5;
      }
      all.push([mark, mark]);
    }
    all.push([from, last]);
  }
  return all;
}
