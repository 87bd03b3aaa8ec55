/**
 * Processor time of the page's main thread by kind, from a trace. Thread time, not wall time: on a busy machine the wall
 * clock also counts what others do.
 */

const SCRIPT = new Set(['FunctionCall', 'EvaluateScript', 'RunMicrotasks', 'TimerFire', 'FireAnimationFrame']);
const STYLE = new Set(['UpdateLayoutTree']);
const LAYOUT = new Set(['Layout']);

export function cpuSeconds({ traceEvents }) {
  const thread = mainThreadOf(traceEvents);
  const events = traceEvents
    .filter((event) => event.ph === 'X' && `${event.pid} ${event.tid}` === thread && event.tdur !== undefined)
    .sort((one, other) => one.ts - other.ts || other.dur - one.dur);
  const style = outermost(events, STYLE);
  const layout = outermost(events, LAYOUT);
  // Style and layout that a script forced lie inside it and must not count twice.
  const forced = inside(events, SCRIPT, new Set([...STYLE, ...LAYOUT]));
  return {
    script: outermost(events, SCRIPT) - forced,
    style,
    layout,
    all: outermost(events, new Set(['RunTask', 'ThreadControllerImpl::RunTask'])),
  };
}

/** The renderer's thread that did most: the page itself, not a blank one that the browser keeps ready. */
function mainThreadOf(events) {
  const names = events.filter((event) => event.name === 'thread_name' && event.args.name === 'CrRendererMain');
  const work = (thread) => events.filter((event) => `${event.pid} ${event.tid}` === thread).length;
  return names.map(({ pid, tid }) => `${pid} ${tid}`).sort((one, other) => work(other) - work(one))[0];
}

function outermost(events, names) {
  let until = -Infinity;
  let total = 0;
  for (const { name, ts, dur, tdur } of events) {
    if (!names.has(name) || ts < until) continue;
    until = ts + dur;
    total += tdur;
  }
  return total / 1e6;
}

function inside(events, outer, inner) {
  let until = -Infinity;
  let innerUntil = -Infinity;
  let total = 0;
  for (const { name, ts, dur, tdur } of events) {
    if (outer.has(name) && ts >= until) until = ts + dur;
    if (inner.has(name) && ts < until && ts >= innerUntil) {
      innerUntil = ts + dur;
      total += tdur;
    }
  }
  return total / 1e6;
}
