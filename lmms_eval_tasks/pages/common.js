"use strict";

// What all pages share: talking to the server, items one after the other, dialogs, keys.
// A page calls start() with what it adds; see page.js of each.

// A second click of a double click must not decide on the item that has just come up.
const SETTLE_MS = 300;

const $ = (id) => document.getElementById(id);
let token = document.querySelector("meta[name=page-token]").content;
let page = null; // what the page adds
let session = null;
let current = null; // the item shown
let busy = false;
let settled = 0;
let ticket = 0; // tells a late answer from the one that is waited for

// Talking to the server

class Refused extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error(`The server does not answer. Start \`${page.command}\` again; what was saved is safe.`);
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(response.status, body.detail || `The server answered ${response.status}.`);
  return body;
}

async function send(path, body) {
  const post = () => ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Page-Token": token },
    body: JSON.stringify(body),
  });
  try {
    return await post();
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 403) throw error;
    // The server was started again, and its items may be others now: nothing is sent blindly.
    await renew();
    throw new Error("The server was started again; please repeat that.");
  }
}

async function renew() {
  const page = new DOMParser().parseFromString(await (await fetch("/")).text(), "text/html");
  token = page.querySelector("meta[name=page-token]").content;
  await begin(session.annotator, current && current.id);
}

// Runs one change at a time; a fault stays visible until something succeeds.
async function change(action) {
  if (busy) return;
  busy = true;
  document.body.setAttribute("aria-busy", "true");
  try {
    await action();
    $("fault").textContent = "";
    $("fault").hidden = true;
  } catch (error) {
    $("fault").textContent = error.message;
    $("fault").hidden = false;
  } finally {
    busy = false;
    document.body.removeAttribute("aria-busy");
  }
}

// What is shown

const say = (text) => { $("status").textContent = text; };
const seconds = (value) => `${value.toFixed(1)} s`;
const who = () => encodeURIComponent(session.annotator);
const itemPath = (place) => `/api/items/${session.items[place].number}?annotator=${who()}`;

function paragraph(text) {
  const made = document.createElement("p");
  made.textContent = text;
  return made;
}

function tableOf(head, rows) {
  const table = document.createElement("table");
  [head, ...rows].forEach((cells, index) => {
    const row = table.insertRow();
    for (const content of cells) {
      const cell = document.createElement(index ? "td" : "th");
      if (!index) cell.scope = "col";
      cell.append(content);
      row.append(cell);
    }
  });
  const scrolls = document.createElement("div");
  scrolls.className = "scrolls";
  scrolls.append(table);
  return scrolls;
}

async function begin(annotator, id) {
  const query = annotator ? `?annotator=${encodeURIComponent(annotator)}` : "";
  const before = session;
  session = await ask(`/api/session${query}`);
  let place = id ? session.items.findIndex((item) => item.id === id) : -1;
  if (place < 0) place = nextOpen(-1);
  if (place < 0) place = 0;
  try {
    if (!session.items.length) throw new Error(page.noItems);
    await show(place, true);
  } catch (error) {
    session = before; // what is on the screen is still the other annotator's
    throw error;
  }
  $("benchmark").textContent = session.benchmark;
  $("annotator").textContent = session.annotator;
  $("annotators").replaceChildren(...session.annotators.map((name) => new Option(name)));
}

function progress() {
  const shown = session.items.filter((item) => item.state !== "broken");
  const done = shown.filter((item) => item.state !== "open").length;
  const skipped = shown.filter((item) => item.state === "skipped").length;
  const bar = $("progress");
  bar.setAttribute("aria-valuemax", shown.length);
  bar.setAttribute("aria-valuenow", done);
  bar.firstElementChild.style.width = `${shown.length ? (100 * done) / shown.length : 0}%`;
  const broken = session.items.length - shown.length;
  $("count").textContent = `${done} of ${shown.length} done`
    + (skipped ? `, ${skipped} skipped` : "") + (broken ? `, ${broken} ${page.brokenWord}` : "");
  return { done, all: shown.length };
}

function nextOpen(from) {
  const count = session.items.length;
  for (let step = 1; step <= count; step++) {
    const place = (from + step + count) % count;
    if (session.items[place].state === "open" && place !== from) return place;
  }
  return -1;
}

async function show(place, again = false) {
  const mine = ++ticket;
  document.body.classList.add("waiting");
  const item = await ask(itemPath(place)).finally(() => document.body.classList.remove("waiting"));
  if (mine !== ticket) return;
  item.place = place;
  const before = current;
  current = item;
  if (item.problem) session.items[place].state = "broken";
  $("task").textContent = item.task.replaceAll("_", " ");
  $("identity").textContent = item.id;
  $("place").textContent = `${place + 1} of ${session.items.length}`;
  document.title = `${place + 1} of ${session.items.length} · ${page.title}`;
  const hash = new URLSearchParams({ annotator: session.annotator, item: item.id });
  history.replaceState(null, "", `#${hash}`);
  page.render(item, again || before.number !== item.number);
  progress();
  settled = performance.now() + SETTLE_MS;
  const next = nextOpen(place);
  if (next >= 0) ask(itemPath(next)).then(page.prepare).catch(() => {}); // asked for again when shown
}

const picture = (number, place) => `/frames/${number}/${place}?v=${session.start}`;

function showVideo(item) {
  const video = $("video");
  video.removeAttribute("src");
  delete video.dataset.converted;
  if (item.problem) {
    video.load();
    return;
  }
  video.onloadedmetadata = () => $("screen").style.setProperty("--ratio", video.videoWidth / video.videoHeight || 1.333);
  video.src = `/video/${item.number}?v=${session.start}`;
  video.play().catch(() => {}); // a browser may want a click first
}

// What a person does

async function goOn(place, decision, text) {
  session.items[place].state = decision.state;
  current.decision = decision;
  page.decided();
  say(text);
  const next = nextOpen(place);
  if (next >= 0) {
    await show(next);
  } else {
    const { done, all } = progress();
    say(`${text} All ${done} of ${all} items are done; close the page, or change what you like.`);
  }
}

function undo() {
  return change(async () => {
    const taken = await send("/api/undo", { annotator: session.annotator });
    const place = session.items.findIndex((item) => item.number === taken.item);
    if (taken.id === null) {
      say("There is nothing to undo.");
    } else if (place < 0) {
      say(`The decision on ${taken.id} was taken back; it is not among these items.`);
    } else {
      session.items[place].state = taken.decision.state;
      await show(place);
      say(`Item ${place + 1}: taken back.`);
    }
  });
}

function openSkip() {
  if (!current) return;
  const state = current.decision;
  $("reason").value = state.skip && !page.reasons.includes(state.skip) ? state.skip : "";
  for (const choice of document.getElementsByName("reason")) choice.checked = choice.value === state.skip;
  $("skip-problem").textContent = "";
  $("skip-dialog").showModal();
}

function saveSkip() {
  const chosen = document.querySelector("#reasons input:checked");
  const reason = $("reason").value.trim() || (chosen ? chosen.value : "");
  if (!reason) {
    $("skip-problem").textContent = "Choose or write a reason.";
    return;
  }
  $("skip-dialog").close();
  change(async () => {
    const { place, number } = current;
    const saved = await send("/api/skip", { annotator: session.annotator, item: number, reason });
    await goOn(place, saved.decision, `Item ${place + 1}: skipped. U takes it back.`);
  });
}

function go(place) {
  if (!session || !session.items.length) return;
  const count = session.items.length;
  return change(() => show((place + count) % count));
}

const goBack = () => go(current.place - 1);
const goNext = () => go(current.place + 1);

function goOpen() {
  const next = nextOpen(current.place);
  if (next < 0) return say("No other item is open.");
  return go(next);
}

function togglePlay() {
  const video = $("video");
  if (!video.src) return;
  if (video.paused) video.play().catch(() => {});
  else video.pause();
}

// Dialogs

let found = [];
let chosen = 0;

function listItems() {
  const text = $("jump-text").value.trim().toLowerCase();
  found = session.items.map((item, place) => ({ ...item, place })).filter((item) =>
    !text || String(item.place + 1).startsWith(text) || item.state === text
    || item.id.toLowerCase().includes(text));
  const exact = found.findIndex((item) => String(item.place + 1) === text);
  chosen = text ? Math.max(0, exact) : Math.max(0, found.findIndex((item) => item.place === current.place));
  $("jump-count").textContent = `${found.length} of ${session.items.length} items`;
  $("jump-list").replaceChildren(...found.map((item, index) => {
    const line = document.createElement("li");
    line.id = `jump-${index}`;
    line.setAttribute("role", "option");
    for (const part of [item.place + 1, item.id, item.state]) {
      const cell = document.createElement("span");
      cell.textContent = part;
      line.append(cell);
    }
    line.addEventListener("click", () => { chosen = index; jump(); });
    return line;
  }));
  choose(chosen);
}

function choose(index) {
  const lines = $("jump-list").children;
  if (!lines.length) {
    $("jump-text").removeAttribute("aria-activedescendant");
    return;
  }
  chosen = Math.min(lines.length - 1, Math.max(0, index));
  [...lines].forEach((line, each) => line.setAttribute("aria-selected", String(each === chosen)));
  lines[chosen].scrollIntoView({ block: "nearest" });
  $("jump-text").setAttribute("aria-activedescendant", lines[chosen].id);
}

function jump() {
  if (!found.length) return;
  $("jump-dialog").close();
  go(found[chosen].place);
}

function openJump() {
  $("jump-text").value = "";
  $("jump-dialog").showModal();
  listItems();
}

function openAnnotator() {
  $("annotator-text").value = session.annotator;
  $("annotator-problem").textContent = "";
  $("annotator-dialog").showModal();
  $("annotator-text").select();
}

async function saveAnnotator() {
  if (busy) return;
  busy = true;
  try {
    await begin($("annotator-text").value, null);
    $("annotator-dialog").close();
    say(page.welcome(session.annotator));
  } catch (error) {
    $("annotator-problem").textContent = error.message;
  } finally {
    busy = false;
  }
}

// Keys

const typing = (target) => target && (target.tagName === "TEXTAREA"
  || (target.tagName === "INPUT" && target.type === "text"));

function onKey(event) {
  if (!current || event.altKey || event.metaKey) return;
  const dialog = document.querySelector("dialog[open]");
  if (dialog) {
    if (page.dialogKey) page.dialogKey(dialog, event);
    return;
  }
  if (typing(event.target)) {
    if (page.typingKey) page.typingKey(event);
    return;
  }
  if (event.ctrlKey) {
    if (page.controlKey && page.controlKey(event)) return;
    if (event.key.toLowerCase() !== "z" || event.shiftKey || event.repeat) return;
    event.preventDefault();
    undo();
    return;
  }
  if (event.key === "?") {
    event.preventDefault();
    $("help-dialog").showModal();
    return;
  }
  if (page.moveKey(event)) return;
  if (event.repeat || event.shiftKey) return;
  if (event.code === "PageDown") { event.preventDefault(); goNext(); return; }
  if (event.code === "PageUp") { event.preventDefault(); goBack(); return; }
  if (page.decideKey(event)) {
    event.preventDefault();
    return;
  }
  // Commands go by the letter printed on the key, wherever it is.
  const letter = /^[a-z]$/i.test(event.key) ? `Key${event.key.toUpperCase()}` : event.code;
  const command = page.commands[letter] || page.commands[event.code];
  if (command) {
    event.preventDefault();
    command();
  }
}

function start(settings) {
  page = settings;
  document.addEventListener("keydown", onKey);
  $("video").addEventListener("error", () => {
    const video = $("video");
    if (!current || current.problem || !video.src || video.dataset.converted) return;
    video.dataset.converted = "yes";
    video.src = `/video/${current.number}?convert=true&v=${session.start}`;
    video.play().catch(() => {});
  });
  const buttons = {
    back: goBack, next: goNext, jump: openJump, undo, skip: openSkip, play: togglePlay,
    "annotator-button": openAnnotator, "help-button": () => $("help-dialog").showModal(),
    ...page.buttons,
  };
  for (const [id, action] of Object.entries(buttons)) {
    $(id).addEventListener("click", () => { if (current) action(); });
  }
  for (const button of document.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => button.closest("dialog").close());
  }
  const forms = {
    "skip-dialog": saveSkip, "jump-dialog": jump, "annotator-dialog": saveAnnotator, ...page.forms,
  };
  for (const [id, save] of Object.entries(forms)) {
    $(id).querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      save();
    });
  }
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("close", () => { if (current) page.focus(); });
  }
  $("reasons").append(...page.reasons.map((text) => {
    const label = document.createElement("label");
    const choice = document.createElement("input");
    choice.type = "radio";
    choice.name = "reason";
    choice.value = text;
    label.append(choice, text);
    return label;
  }));
  $("jump-text").addEventListener("input", listItems);
  $("jump-text").addEventListener("keydown", (event) => {
    const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -8, PageDown: 8 };
    if (event.key in steps) {
      event.preventDefault();
      choose(chosen + steps[event.key]);
    }
  });
  const ready = page.ready ? page.ready() : Promise.resolve();
  ready.then(() => change(() => {
    const wanted = new URLSearchParams(location.hash.slice(1));
    // A name in the address that the server refuses gives way to the server's own.
    return begin(wanted.get("annotator"), wanted.get("item"))
      .catch((error) => { if (error.status === 422) return begin(null, null); throw error; });
  }));
}
