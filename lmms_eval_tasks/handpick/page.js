"use strict";

// The keys of the grid, by their place on the keyboard: they form the same 4 x 4 square.
const PLACES = [
  "Digit1", "Digit2", "Digit3", "Digit4",
  "KeyQ", "KeyW", "KeyE", "KeyR",
  "KeyA", "KeyS", "KeyD", "KeyF",
  "KeyZ", "KeyX", "KeyC", "KeyV",
];
const REASONS = [
  "No frame tells more than the others",
  "The question cannot be understood",
  "The options are wrong or say the same",
  "The video does not fit the question",
];
// A second click of a double click must not pick for the item that has just come up.
const SETTLE_MS = 300;

const $ = (id) => document.getElementById(id);
let token = document.querySelector("meta[name=handpick-token]").content;
let letters = PLACES.map((code) => code.at(-1));
let session = null;
let current = null; // the item shown
let focused = 0; // the frame that the arrows have come to
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
    throw new Error("The server does not answer. Start `video-reasoning handpick` again; what was saved is safe.");
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(response.status, body.detail || `The server answered ${response.status}.`);
  return body;
}

async function send(path, body) {
  const post = () => ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Handpick-Token": token },
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
  token = page.querySelector("meta[name=handpick-token]").content;
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

async function begin(annotator, id) {
  const query = annotator ? `?annotator=${encodeURIComponent(annotator)}` : "";
  const before = session;
  session = await ask(`/api/session${query}`);
  let number = id ? session.items.findIndex((item) => item.id === id) : -1;
  if (number < 0) number = nextOpen(-1);
  if (number < 0) number = 0;
  try {
    if (!session.items.length) throw new Error("There are no items to pick for.");
    await show(number, true);
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
    + (skipped ? `, ${skipped} skipped` : "") + (broken ? `, ${broken} without video` : "");
  return { done, all: shown.length };
}

function nextOpen(from) {
  const count = session.items.length;
  for (let step = 1; step <= count; step++) {
    const number = (from + step + count) % count;
    if (session.items[number].state === "open" && number !== from) return number;
  }
  return -1;
}

async function show(number, again = false) {
  const mine = ++ticket;
  $("grid").classList.add("waiting");
  const who = encodeURIComponent(session.annotator);
  const item = await ask(`/api/items/${number}?annotator=${who}`);
  if (mine !== ticket) return;
  const before = current;
  current = item;
  if (item.problem) session.items[number].state = "broken";
  $("task").textContent = item.task.replaceAll("_", " ");
  $("identity").textContent = item.id;
  $("question").textContent = item.question;
  // Without letters: those on the screen are the keys of the frames.
  $("options").replaceChildren(...item.options.map((option) => {
    const line = document.createElement("li");
    line.textContent = option;
    return line;
  }));
  hideAnswer();
  $("place").textContent = `${number + 1} of ${session.items.length}`;
  document.title = `${number + 1} of ${session.items.length} · Handpick`;
  const hash = new URLSearchParams({ annotator: session.annotator, item: item.id });
  history.replaceState(null, "", `#${hash}`);
  showFrames(item);
  if (again || before.number !== item.number) showVideo(item);
  showState();
  progress();
  settled = performance.now() + SETTLE_MS;
  prepareNext(number);
}

function showFrames(item) {
  $("grid").hidden = $("screen").hidden = Boolean(item.problem);
  $("instead").hidden = !item.problem;
  $("instead").textContent = `${item.problem}\n\nN goes to the next item.`;
  $("grid").classList.remove("waiting");
  const picked = item.frames.findIndex(({ frame }) => frame === item.decision.frame);
  focused = Math.max(0, picked);
  $("grid").replaceChildren(...item.frames.map(({ seconds: time }, place) => {
    const cell = document.createElement("div");
    cell.className = "cell";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "frame";
    button.dataset.place = place;
    button.tabIndex = place === focused ? 0 : -1;
    button.setAttribute("aria-keyshortcuts", letters[place]);
    button.setAttribute("aria-label",
      `Frame ${place + 1} of ${item.frames.length}, at ${seconds(time)}, key ${letters[place]}`);
    const image = document.createElement("img");
    image.alt = "";
    image.src = picture(item.number, place);
    const key = document.createElement("span");
    key.className = "key";
    key.textContent = letters[place];
    const when = document.createElement("span");
    when.className = "time";
    when.textContent = seconds(time);
    button.append(image, key, when);
    const enlarge = document.createElement("button");
    enlarge.type = "button";
    enlarge.className = "enlarge";
    enlarge.dataset.enlarge = place;
    enlarge.tabIndex = -1;
    enlarge.title = "Enlarge (L)";
    enlarge.setAttribute("aria-label", `Enlarge frame ${place + 1}`);
    enlarge.textContent = "\u2922";
    cell.append(button, enlarge);
    return cell;
  }));
  markPicked();
  if (!document.querySelector("dialog[open]") && item.frames.length) frameButton(focused).focus();
}

function showVideo(item) {
  const video = $("video");
  video.removeAttribute("src");
  delete video.dataset.converted;
  if (item.problem) {
    video.load();
    return;
  }
  video.src = `/video/${item.number}?v=${session.start}`;
  video.play().catch(() => {}); // a browser may want a click first
}

function markPicked() {
  const { frame } = current.decision;
  current.frames.forEach((shown, place) => {
    frameButton(place).setAttribute("aria-pressed", String(shown.frame === frame));
  });
}

function showState() {
  const { state, frame, skip } = current.decision;
  const label = $("state");
  label.className = state;
  if (state === "picked") {
    const place = current.frames.findIndex((shown) => shown.frame === frame);
    label.textContent = place < 0 ? `Picked: frame ${frame} of the video, which is not among these`
      : `Picked: ${letters[place]}, at ${seconds(current.frames[place].seconds)} (frame ${frame} of the video)`;
  } else if (state === "skipped") {
    label.textContent = `Skipped: ${skip}`;
  } else {
    label.textContent = current.problem ? "" : "Pick the frame that tells most about the answer.";
  }
}

const picture = (number, place) => `/frames/${number}/${place}?v=${session.start}`;
const frameButton = (place) => $("grid").children[place].firstElementChild;

function prepareNext(number) {
  const next = nextOpen(number);
  if (next < 0) return;
  const who = encodeURIComponent(session.annotator);
  ask(`/api/items/${next}?annotator=${who}`).then((item) => {
    item.frames.forEach((_, place) => { new Image().src = picture(next, place); });
  }).catch(() => {}); // it will be asked for again when it is shown
}

function moveTo(place) {
  if (!current || !current.frames.length) return;
  frameButton(focused).tabIndex = -1;
  focused = Math.min(current.frames.length - 1, Math.max(0, place));
  frameButton(focused).tabIndex = 0;
  frameButton(focused).focus();
}

// What the annotator does

function pick(place) {
  if (!current || current.problem || !current.frames[place]) return;
  return change(async () => {
    const number = current.number;
    const saved = await send("/api/pick", { annotator: session.annotator, item: number, position: place });
    await goOn(number, saved.decision, `Item ${number + 1}: frame ${letters[place]} picked and saved. U takes it back.`);
  });
}

async function goOn(number, decision, text) {
  session.items[number].state = decision.state;
  current.decision = decision;
  markPicked();
  showState();
  say(text);
  const next = nextOpen(number);
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
    if (taken.id === null) {
      say("There is nothing to undo.");
    } else if (taken.item === null) {
      say(`The decision on ${taken.id} was taken back; it is not among these items.`);
    } else {
      session.items[taken.item].state = taken.decision.state;
      await show(taken.item);
      say(`Item ${taken.item + 1}: taken back.`);
    }
  });
}

function openSkip() {
  if (!current) return;
  const state = current.decision;
  $("reason").value = state.skip && !REASONS.includes(state.skip) ? state.skip : "";
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
    const number = current.number;
    const saved = await send("/api/skip", { annotator: session.annotator, item: number, reason });
    await goOn(number, saved.decision, `Item ${number + 1}: skipped. U takes it back.`);
  });
}

function hideAnswer() {
  $("answer").textContent = "";
  $("answer-button").setAttribute("aria-expanded", "false");
  $("answer-button").lastChild.textContent = " Show the right answer";
  for (const line of $("options").children) line.classList.remove("right");
}

async function toggleAnswer() {
  if (!current) return;
  if ($("answer-button").getAttribute("aria-expanded") === "true") return hideAnswer();
  const { number } = current;
  return change(async () => {
    const { answer } = await ask(`/api/items/${number}/answer`);
    if (current.number !== number) return;
    const line = answer.length === 1 && $("options").children[answer.charCodeAt(0) - 65];
    $("answer").classList.toggle("hidden", Boolean(line)); // the option itself shows it
    $("answer").textContent = line ? line.textContent : answer || "not published";
    $("answer-button").setAttribute("aria-expanded", "true");
    $("answer-button").lastChild.textContent = " Hide the right answer";
    if (line) line.classList.add("right");
  });
}

function go(number) {
  if (!session || !session.items.length) return;
  const count = session.items.length;
  return change(() => show((number + count) % count));
}

function goOpen() {
  const next = nextOpen(current.number);
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

function enlarge(place) {
  if (!current.frames[place]) return;
  moveTo(place);
  const time = current.frames[focused].seconds;
  $("large-image").src = picture(current.number, focused);
  $("large-image").alt = `Frame ${focused + 1}, enlarged`;
  $("large-text").textContent = `Frame ${focused + 1} of ${current.frames.length}, at ${seconds(time)}`;
  if (!$("large").open) $("large").showModal();
  $("large-pick").focus();
}

let found = [];
let chosen = 0;

function listItems() {
  const text = $("jump-text").value.trim().toLowerCase();
  found = session.items.map((item, number) => ({ ...item, number })).filter((item) =>
    !text || String(item.number + 1).startsWith(text) || item.state === text
    || item.id.toLowerCase().includes(text));
  const exact = found.findIndex((item) => String(item.number + 1) === text);
  chosen = text ? Math.max(0, exact) : Math.max(0, found.findIndex((item) => item.number === current.number));
  $("jump-count").textContent = `${found.length} of ${session.items.length} items`;
  $("jump-list").replaceChildren(...found.map((item, place) => {
    const line = document.createElement("li");
    line.id = `jump-${place}`;
    line.setAttribute("role", "option");
    for (const part of [item.number + 1, item.id, item.state]) {
      const cell = document.createElement("span");
      cell.textContent = part;
      line.append(cell);
    }
    line.addEventListener("click", () => { chosen = place; jump(); });
    return line;
  }));
  choose(chosen);
}

function choose(place) {
  const lines = $("jump-list").children;
  if (!lines.length) {
    $("jump-text").removeAttribute("aria-activedescendant");
    return;
  }
  chosen = Math.min(lines.length - 1, Math.max(0, place));
  [...lines].forEach((line, index) => line.setAttribute("aria-selected", String(index === chosen)));
  lines[chosen].scrollIntoView({ block: "nearest" });
  $("jump-text").setAttribute("aria-activedescendant", lines[chosen].id);
}

function jump() {
  if (!found.length) return;
  $("jump-dialog").close();
  go(found[chosen].number);
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
    say(`${session.annotator} is picking now.`);
  } catch (error) {
    $("annotator-problem").textContent = error.message;
  } finally {
    busy = false;
  }
}

async function openAgreement() {
  const place = $("agreement-text");
  try {
    const { pairs } = await ask("/api/agreement");
    place.replaceChildren(...(pairs.length ? agreementTable(pairs)
      : [paragraph("No two annotators have decided on the same item yet.")]));
  } catch (error) {
    place.replaceChildren(paragraph(error.message));
  }
  $("agreement-dialog").showModal();
}

function paragraph(text) {
  const made = document.createElement("p");
  made.textContent = text;
  return made;
}

function agreementTable(pairs) {
  const table = document.createElement("table");
  const number = (value, digits, unit = "") => value === null ? "–" : value.toFixed(digits) + unit;
  const percent = (value) => value === null ? "–" : `${(100 * value).toFixed(1)} %`;
  const head = ["Annotators", "Items both picked", "Same frame", "Same by chance",
    "Mean distance, frames", "Mean distance, seconds", "One skipped"];
  const rows = pairs.map((pair) => [`${pair.first} and ${pair.second}`, pair.items,
    percent(pair.share), percent(pair.chance), number(pair.frames, 1), number(pair.seconds, 2),
    pair.one_skipped]);
  [head, ...rows].forEach((cells, index) => {
    const row = table.insertRow();
    for (const text of cells) {
      const cell = document.createElement(index ? "td" : "th");
      if (!index) cell.scope = "col";
      cell.textContent = text;
      row.append(cell);
    }
  });
  return [table, paragraph("Over the items for which both picked a frame. By chance: both pick blindly among the frames shown.")];
}

// Keys

const COMMANDS = {
  KeyL: () => enlarge(focused),
  KeyP: togglePlay,
  KeyU: undo,
  KeyK: openSkip,
  KeyN: () => go(current.number + 1),
  KeyB: () => go(current.number - 1),
  KeyO: goOpen,
  KeyG: openJump,
  KeyT: toggleAnswer,
  KeyM: openAgreement,
  KeyY: openAnnotator,
};
const ARROWS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -4, ArrowDown: 4 };

function onKey(event) {
  if (!current || event.altKey || event.metaKey) return;
  const dialog = document.querySelector("dialog[open]");
  if (dialog) {
    if (dialog.id !== "large") return;
    if (event.code in ARROWS) {
      event.preventDefault();
      enlarge(focused + ARROWS[event.code]);
    } else if (event.code === "KeyL" && !event.repeat) {
      dialog.close();
    }
    return;
  }
  if (event.ctrlKey) {
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
  if (event.code in ARROWS) {
    if (document.activeElement === $("video")) return; // the player's own keys
    event.preventDefault();
    const onGrid = document.activeElement.classList.contains("frame");
    moveTo(onGrid ? focused + ARROWS[event.code] : focused);
    return;
  }
  if (event.repeat || event.shiftKey) return;
  if (event.code === "PageDown") { event.preventDefault(); go(current.number + 1); return; }
  if (event.code === "PageUp") { event.preventDefault(); go(current.number - 1); return; }
  const place = PLACES.indexOf(event.code);
  // Commands go by the letter, the square of frames by its place: they may meet on some layouts,
  // where the letter that is shown on the frame wins.
  if (place >= 0) {
    event.preventDefault();
    pick(place);
    return;
  }
  const letter = /^[a-z]$/i.test(event.key) ? `Key${event.key.toUpperCase()}` : event.code;
  const command = COMMANDS[letter] || COMMANDS[event.code];
  if (command) {
    event.preventDefault();
    command();
  }
}

async function readLayout() {
  // Tells what is printed on the keys of other layouts, where the browser knows.
  try {
    const layout = await navigator.keyboard.getLayoutMap();
    letters = PLACES.map((code, place) => (layout.get(code) || letters[place]).toUpperCase());
  } catch {
    // the usual names stay
  }
  $("help-keys").replaceChildren(...letters.map((letter) => {
    const key = document.createElement("kbd");
    key.textContent = letter;
    return key;
  }));
}

function wire() {
  document.addEventListener("keydown", onKey);
  $("grid").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    // Clicks made by Enter or a screen reader have no detail and are never a double click.
    if (!button || event.detail > 1 || (event.detail && performance.now() < settled)) return;
    if (button.dataset.enlarge) enlarge(Number(button.dataset.enlarge));
    else pick(Number(button.dataset.place));
  });
  $("video").addEventListener("error", () => {
    const video = $("video");
    if (!current || current.problem || !video.src || video.dataset.converted) return;
    video.dataset.converted = "yes";
    video.src = `/video/${current.number}?convert=true&v=${session.start}`;
    video.play().catch(() => {});
  });
  const buttons = {
    back: COMMANDS.KeyB, next: COMMANDS.KeyN, jump: openJump, undo, skip: openSkip, play: togglePlay,
    "answer-button": toggleAnswer, "annotator-button": openAnnotator,
    "agreement-button": openAgreement, "help-button": () => $("help-dialog").showModal(),
    "large-pick": () => { $("large").close(); pick(focused); },
  };
  for (const [id, action] of Object.entries(buttons)) {
    $(id).addEventListener("click", () => { if (current) action(); });
  }
  for (const button of document.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => button.closest("dialog").close());
  }
  const forms = { "skip-dialog": saveSkip, "jump-dialog": jump, "annotator-dialog": saveAnnotator };
  for (const [id, save] of Object.entries(forms)) {
    $(id).querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      save();
    });
  }
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("close", () => {
      if (current && current.frames.length) frameButton(focused).focus();
    });
  }
  $("reasons").append(...REASONS.map((text) => {
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
}

wire();
readLayout().then(() => change(() => {
  const wanted = new URLSearchParams(location.hash.slice(1));
  // A name in the address that the server refuses gives way to the server's own.
  return begin(wanted.get("annotator"), wanted.get("item"))
    .catch((error) => { if (error.status === 422) return begin(null, null); throw error; });
}));
