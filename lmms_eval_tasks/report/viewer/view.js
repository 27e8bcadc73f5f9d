"use strict";
// The items are columns of equal length; an item is its place in them. Filters, search and sorting
// are loops over them: 10,000 items take some milliseconds, and nothing is asked of a server.

const ROW = 58; // pixels; see view.css
const SIGNS = { right: "✓", wrong: "✗", unparsed: "?", missing: "∅", failed: "∅", withheld: "·", generated: "✎" };
const SELECTS = ["task", "run", "kind", "condition", "rule", "flips", "sort"];
const FRAME = 1 / 25; // seconds; what a key moves a clip by
const COMMON = 5; // questions of one wording that need their right answer to be told apart
const POLL = 4000; // milliseconds between looks at a run that may be going on

const $ = (id) => document.getElementById(id);
const served = !window.VIEW;
let data = null;
let items = null;
let total = 0;
let words = [];
let flips = null; // per item: bit 1 between models, bit 2 between conditions
let together = []; // question -> its items
let common = new Set(); // questions that say the same for many items
let shown = [];
let place = -1;
let asked = 0; // numbers the requests about items: an answer that is late is dropped

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const taskOf = (n) => data.logs[items.log[n]].task;
const runOf = (n) => data.runs[items.run[n]].name;
const questionOf = (n) => data.questions[items.question[n]];
const frames = (n) => items.condition[n] || "video";
const score = (n) => (items.kind[n] === "right" ? 1 : items.kind[n] === "wrong" || items.kind[n] === "unparsed" ? 0 : null);

// Reading

function read(content) {
  const before = place >= 0 ? name(shown[place]) : null;
  data = content;
  items = data.items;
  total = items.kind.length;
  const texts = data.questions.map((q) => [q.id, q.text, q.hypothesis, ...q.options].join("\n").toLowerCase());
  words = items.response.map((text, n) => `${texts[items.question[n]]}\n${text}`.toLowerCase());
  const same = new Map();
  for (const q of data.questions) same.set(q.text, (same.get(q.text) || 0) + 1);
  common = new Set([...same].filter(([, count]) => count > COMMON).map(([text]) => text));
  findFlips();
  choices("task", new Set(data.logs.map((log) => log.task)));
  choices("run", new Set(data.runs.map((run) => run.name)));
  choices("kind", new Set(items.kind));
  choices("condition", new Set(items.condition.map((text) => text || "video")));
  choices("rule", new Set(items.rule.filter(Boolean)));
  const samples = [...new Set(data.logs.filter((log) => log.sample).map((log) => log.task))];
  const odd = data.logs.filter((log) => log.odd).map((log) => `${log.odd} unusable lines in ${log.file}`);
  const notes = samples.length ? [`SAMPLE BENCHMARK: drawn shapes, not the released questions (${samples.join(", ")}).`] : [];
  $("banner").textContent = [...notes, ...odd].join(" ");
  $("banner").hidden = !notes.length && !odd.length;
  fromAddress();
  if (before !== null) select(before);
}

// What an item is called in the page's address: it outlives reading the logs again.
const name = (n) => [taskOf(n), runOf(n), frames(n), questionOf(n).id].join("|");

function findFlips() {
  together = data.questions.map(() => []);
  const byId = new Map();
  for (let n = 0; n < total; n++) {
    const q = questionOf(n);
    const key = `${q.benchmark}\n${q.id}`;
    if (!byId.has(key)) byId.set(key, []);
    byId.get(key).push(n);
  }
  flips = new Uint8Array(total);
  for (const group of byId.values()) {
    for (const n of group) together[items.question[n]] = group;
    mark(group, (n) => `${taskOf(n)}\n${frames(n)}`, 1);
    mark(group, (n) => items.run[n], 2);
  }
}

function mark(group, key, bit) {
  const parts = new Map();
  for (const n of group) {
    const value = score(n);
    if (value === null) continue;
    const part = parts.get(key(n)) || [new Set(), []];
    part[0].add(value);
    part[1].push(n);
    parts.set(key(n), part);
  }
  for (const [values, members] of parts.values()) if (values.size > 1) for (const n of members) flips[n] |= bit;
}

function choices(id, found) {
  const before = $(id).value;
  $(id).replaceChildren(make("option", { value: "" }, "all"), ...[...found].sort().map((text) => make("option", { value: text }, text)));
  $(id).value = found.has(before) ? before : "";
}

// Filtering

function filter() {
  const task = $("task").value, run = $("run").value, kind = $("kind").value;
  const condition = $("condition").value, rule = $("rule").value, flip = $("flips").value;
  const terms = $("text").value.toLowerCase().split(/\s+/).filter(Boolean);
  const tasks = data.logs.map((log) => !task || log.task === task);
  const runs = data.runs.map((each) => !run || each.name === run);
  const bit = { models: 1, conditions: 2 }[flip] || 0;
  const found = [];
  for (let n = 0; n < total; n++) {
    if (!tasks[items.log[n]] || !runs[items.run[n]]) continue;
    if (kind && items.kind[n] !== kind) continue;
    if (condition && frames(n) !== condition) continue;
    if (rule && items.rule[n] !== rule) continue;
    if (bit ? !(flips[n] & bit) : flip && flips[n]) continue;
    if (!terms.every((term) => words[n].includes(term))) continue;
    found.push(n);
  }
  sort(found);
  return found;
}

function sort(found) {
  const by = $("sort").value;
  const key = {
    id: (n) => questionOf(n).id, kind: (n) => items.kind[n], choice: (n) => items.choice[n], rule: (n) => items.rule[n],
    condition: frames, seen: (n) => items.seen[n] ?? -1, response: (n) => items.response[n].length, run: runOf,
  }[by];
  if (key) {
    const order = new Intl.Collator("en", { numeric: true });
    const keyed = found.map((n) => [key(n), n]);
    keyed.sort(([a, m], [b, n]) => (typeof a === "number" ? a - b : order.compare(a, b)) || m - n);
    keyed.forEach(([, n], k) => (found[k] = n));
  }
  if ($("down").checked) found.reverse();
}

function update(kept) {
  const begin = performance.now();
  shown = filter();
  for (const id of SELECTS) $(id).classList.toggle("set", Boolean($(id).value));
  const counts = {};
  for (const n of shown) counts[items.kind[n]] = (counts[items.kind[n]] || 0) + 1;
  const listed = Object.entries(counts).map(([kind, count]) => `${kind} ${count.toLocaleString("en")}`);
  $("count").textContent = `${shown.length.toLocaleString("en")} of ${total.toLocaleString("en")} items` + (listed.length ? `: ${listed.join(", ")}` : "");
  $("space").style.height = `${shown.length * ROW}px`;
  document.body.dataset.milliseconds = (performance.now() - begin).toFixed(1);
  select(kept);
}

function select(kept) {
  const found = kept === null ? -1 : shown.findIndex((n) => name(n) === kept);
  if (!shown.length) {
    place = -1;
    draw();
    $("item").replaceChildren(make("p", { class: "soft" }, "No item is like this."));
    return;
  }
  go(Math.max(0, found), false);
}

// The list: only the rows in sight are there

function draw() {
  const top = $("list").scrollTop;
  const first = Math.max(0, Math.floor(top / ROW) - 3);
  const last = Math.min(shown.length, Math.ceil((top + $("list").clientHeight) / ROW) + 3);
  const rows = [];
  for (let k = first; k < last; k++) rows.push(row(shown[k], k));
  $("rows").style.top = `${first * ROW}px`;
  $("rows").replaceChildren(...rows);
  if (place >= 0) $("list").setAttribute("aria-activedescendant", `row-${place}`);
}

function badge(n) {
  return make("span", { class: `kind ${items.kind[n]}` }, `${SIGNS[items.kind[n]] || ""} ${items.kind[n]}`);
}

function title(n, q) {
  const answer = q.options[(items.target[n] || " ").charCodeAt(0) - 65];
  return (common.has(q.text) && (answer || q.hypothesis)) || q.text || q.hypothesis || q.id;
}

function row(n, k) {
  const q = questionOf(n);
  const answer = items.choice[n] ? `${items.choice[n]}${items.target[n] && items.choice[n] !== items.target[n] ? `, right ${items.target[n]}` : ""} · ` : "";
  return make(
    "div",
    { class: "row", id: `row-${k}`, role: "option", "aria-selected": k === place, "aria-setsize": shown.length, "aria-posinset": k + 1, onclick: () => go(k, true) },
    make("div", {}, badge(n), title(n, q)),
    make("div", { class: "facts" }, `${answer}${q.id} · ${taskOf(n)} · ${frames(n)} · ${runOf(n)}`),
  );
}

function go(k, reading) {
  place = Math.min(shown.length - 1, Math.max(0, k));
  const top = place * ROW, list = $("list");
  if (top < list.scrollTop) list.scrollTop = top;
  if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
  draw();
  if (reading) document.body.classList.add("reading");
  show(shown[place]);
  toAddress();
}

// An item

function show(n) {
  const q = questionOf(n), log = data.logs[items.log[n]];
  const others = together[items.question[n]];
  const seen = items.seen[n] === null ? "not counted" : `${items.seen[n]}${items.shown[n] === null ? "" : ` of ${items.shown[n]}`}`;
  const order = items.ordered[n] === null ? "" : items.ordered[n] ? ", in order" : ", not in order";
  const values = Object.entries(items.values[n] || {}).map(([key, value]) => `${key} ${value.toFixed(2)}`);
  const facts = {
    "Read as": items.choice[n] ? `${items.choice[n]} (${items.rule[n]})` : items.rule[n] || "nothing",
    Model: runOf(n) + (data.runs[items.run[n]].arguments ? ` (${data.runs[items.run[n]].arguments})` : ""),
    Begun: data.runs[items.run[n]].begun,
    "Frames shown": frames(n),
    "Frames seen": seen + order,
    ...(values.length ? { Scores: values.join(", ") } : {}),
    ...Object.fromEntries(Object.entries(q.groups).map(([key, value]) => [key.replaceAll("_", " "), value])),
    "Log line": `${log.file}:${items.line[n]}`,
  };
  const line = make("details", {}, make("summary", {}, "The line of the log"));
  line.addEventListener("toggle", () => line.open && line.children.length < 2 && showLine(line, n));
  const media = make("div", { id: "media" }, make("p", { class: "soft" }, "…"));
  $("item").replaceChildren(
    make(
      "div", { class: "moves" },
      make("button", { id: "back", type: "button", onclick: back }, "← List"),
      make("button", { type: "button", onclick: () => go(place - 1, true), "aria-label": "Previous item" }, "↑"),
      make("button", { type: "button", onclick: () => go(place + 1, true), "aria-label": "Next item" }, "↓"),
      make("span", { class: "soft" }, `${(place + 1).toLocaleString("en")} of ${shown.length.toLocaleString("en")}`),
    ),
    make("h2", {}, badge(n), `${q.id} · ${taskOf(n)}`),
    media,
    q.text ? make("p", { class: "question" }, ...marked(q.text)) : "",
    q.hypothesis && !q.text.includes(q.hypothesis) ? make("p", {}, ...marked(q.hypothesis)) : "",
    options(n, q),
    q.references.length ? make("p", { class: "soft" }, `References: ${q.references.join(" / ")}`) : "",
    make("h3", {}, "Response"),
    make("pre", { dir: "auto" }, ...marked(items.response[n] || "(empty response)")),
    items.problem[n] ? make("p", {}, items.problem[n]) : "",
    make("dl", {}, ...Object.entries(facts).flatMap(([key, value]) => [make("dt", {}, key), make("dd", {}, value)])),
    served ? line : "",
    others.length > 1 ? make("h3", {}, "The same question") : "",
    make("div", { class: "others" }, ...(others.length > 1 ? others.map((other) => otherButton(other, n)) : [])),
  );
  $("item").scrollTop = 0;
  showMedia(n, media);
}

function options(n, q) {
  if (!q.options.length) return items.target[n] ? make("p", {}, `Right answer: ${items.target[n]}`) : "";
  return make("ol", {}, ...q.options.map((text, k) => {
    const letter = String.fromCharCode(65 + k);
    const state = [letter === items.target[n] ? "answer" : "", letter === items.choice[n] ? "chosen" : ""].join(" ").trim();
    return make("li", { class: state }, `${letter}. `, ...marked(text), letter === items.choice[n] ? " (chosen)" : "");
  }));
}

function otherButton(other, n) {
  return make(
    "button", { type: "button", "aria-current": other === n, onclick: () => jump(other) },
    badge(other), make("span", {}, `${runOf(other)} · ${frames(other)} · ${taskOf(other)}`), items.choice[other] || "–",
  );
}

function jump(n) {
  let k = shown.indexOf(n);
  if (k < 0) {
    clear();
    k = shown.indexOf(n);
  }
  go(k, true);
}

// The parts of a text, with what was searched for marked.
function marked(text) {
  const terms = $("text").value.trim().split(/\s+/).filter(Boolean).map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!terms.length) return [text];
  return text.split(new RegExp(`(${terms.join("|")})`, "gi")).map((part, k) => (k % 2 ? make("mark", {}, part) : part));
}

async function showMedia(n, media) {
  const number = ++asked;
  let found;
  if (served) {
    try {
      const answer = await fetch(`api/items/${data.version}/${n}`);
      if (answer.status === 409) return void poll();
      found = await answer.json();
      found.stills = (found.stills || []).map((text, k) => [text, `still/${data.version}/${n}/${k}`]);
      found.problem ||= found.detail;
    } catch {
      found = { stills: [], clips: [], problem: "The server does not answer: is the command still running?" };
    }
  } else found = { stills: [], clips: [], ...data.media[n] };
  if (number !== asked) return;
  media.replaceChildren(
    ...found.clips.map((address) => clip(address)),
    make("div", { class: "stills" }, ...found.stills.map(([text, address]) => still(text, address))),
    make("p", { class: "soft" }, found.problem || found.caption || ""),
  );
}

function clip(address) {
  const video = make("video", { controls: "", preload: "metadata", src: address });
  video.addEventListener("error", () => {
    // A file that should play but does not is asked for once more, converted.
    if (served && !video.src.includes("convert")) video.src = `${address}?convert=true`;
  });
  return video;
}

function still(text, address) {
  const image = make("img", { src: address, alt: text, decoding: "async" });
  return make("figure", {}, make("button", { type: "button", onclick: () => enlarge(text, address) }, image), text);
}

function enlarge(text, address) {
  $("large").replaceChildren(make("img", { src: address, alt: text }), make("p", {}, text));
  $("large").showModal();
}

async function showLine(line, n) {
  const answer = await fetch(`api/lines/${data.version}/${n}`);
  line.append(make("pre", {}, answer.ok ? await answer.text() : (await answer.json()).detail));
}

function back() {
  document.body.classList.remove("reading");
  $("list").focus();
  draw();
}

// The address has the filters and the item: a link leads to the same view

function toAddress() {
  const found = new URLSearchParams();
  for (const id of SELECTS) if ($(id).value) found.set(id, $(id).value);
  if ($("text").value) found.set("text", $("text").value);
  if ($("down").checked) found.set("down", "1");
  if (place >= 0) found.set("item", name(shown[place]));
  history.replaceState(null, "", `#${found}`);
}

function fromAddress() {
  const found = new URLSearchParams(location.hash.slice(1));
  for (const id of SELECTS) {
    $(id).value = found.get(id) || "";
    if ($(id).selectedIndex < 0) $(id).value = "";
  }
  $("text").value = found.get("text") || "";
  $("down").checked = found.has("down");
  update(found.get("item"));
}

function clear() {
  for (const id of SELECTS) $(id).value = "";
  $("text").value = "";
  $("down").checked = false;
  update(place >= 0 ? name(shown[place]) : null);
}

// A run that is going on

async function poll() {
  try {
    const answer = await (await fetch("api/version")).json();
    if (data && answer.version === data.version) return;
    const content = await (await fetch("api/items")).json();
    if (!content.items) throw new Error(content.detail);
    read(content);
    if (answer.problem) $("count").textContent = answer.problem;
  } catch (error) {
    if (!data) $("count").textContent = `Nothing could be read: ${error.message}`;
  }
}

// Keys

function play(video) {
  if (video.paused) video.play();
  else video.pause();
}

function step(video, seconds) {
  video.pause();
  video.currentTime = Math.max(0, video.currentTime + seconds);
}

function sameQuestion() {
  const others = together[items.question[shown[place]]];
  jump(others[(others.indexOf(shown[place]) + 1) % others.length]);
}

const KEYS = {
  j: () => go(place + 1), ArrowDown: () => go(place + 1), k: () => go(place - 1), ArrowUp: () => go(place - 1),
  Home: () => go(0), End: () => go(shown.length - 1),
  PageDown: () => go(place + Math.floor($("list").clientHeight / ROW)), PageUp: () => go(place - Math.floor($("list").clientHeight / ROW)),
  Enter: () => { document.body.classList.add("reading"); $("item").focus(); },
  Escape: back, "/": () => $("text").focus(), m: sameQuestion,
  x: () => { $("flips").selectedIndex = ($("flips").selectedIndex + 1) % $("flips").options.length; changed(); },
  "?": () => $("keys").showModal(),
};
const OF_CLIP = { p: play, " ": play, ",": (video) => step(video, -FRAME), ".": (video) => step(video, FRAME) };

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (target.matches("input[type=search], select, input")) {
    if (event.key === "Escape" || (event.key === "Enter" && target.id === "text")) {
      event.preventDefault();
      $("list").focus();
    }
    return;
  }
  if (target.matches("button, summary, video") && ["Enter", " "].includes(event.key)) return;
  if ($("item").contains(target) && ["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End"].includes(event.key)) return;
  const video = document.querySelector("video");
  if (OF_CLIP[event.key] && video) {
    event.preventDefault();
    OF_CLIP[event.key](video);
  } else if (KEYS[event.key] && data && (shown.length || ["/", "?", "x", "Escape"].includes(event.key))) {
    event.preventDefault();
    KEYS[event.key]();
  }
});

function changed() {
  update(place >= 0 ? name(shown[place]) : null);
  toAddress();
}

let waiting = 0;
$("text").addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(changed, 60);
});
for (const id of [...SELECTS, "down"]) $(id).addEventListener("change", changed);
$("filters").addEventListener("submit", (event) => event.preventDefault());
$("clear").addEventListener("click", () => { clear(); toAddress(); });
$("more").addEventListener("click", () => $("more").setAttribute("aria-expanded", $("selects").classList.toggle("open")));
$("help").addEventListener("click", () => $("keys").showModal());
$("large").addEventListener("click", () => $("large").close());
$("list").addEventListener("scroll", () => requestAnimationFrame(draw));
addEventListener("resize", draw);
addEventListener("hashchange", () => data && fromAddress());

if (served) {
  poll();
  setInterval(poll, POLL);
} else read(window.VIEW);
$("list").focus();
