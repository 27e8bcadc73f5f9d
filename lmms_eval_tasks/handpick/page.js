"use strict";

// The keys of the grid, by their place on the keyboard: they form the same 4 x 4 square.
const PLACES = [
  "Digit1", "Digit2", "Digit3", "Digit4",
  "KeyQ", "KeyW", "KeyE", "KeyR",
  "KeyA", "KeyS", "KeyD", "KeyF",
  "KeyZ", "KeyX", "KeyC", "KeyV",
];
let letters = PLACES.map((code) => code.at(-1));
let focused = 0; // the frame that the arrows have come to

// What is shown

function render(item, other) {
  $("question").textContent = item.question;
  // Letters in brackets, as in a text: the boxed ones on the screen are the keys of the frames.
  $("options").replaceChildren(...item.options.map((option, place) => {
    const line = document.createElement("li");
    const letter = document.createElement("span");
    letter.className = "letter";
    letter.textContent = `(${String.fromCharCode(65 + place)})`;
    line.append(letter, " ", option);
    return line;
  }));
  hideAnswer();
  showFrames(item);
  if (other) showVideo(item);
  showState();
}

function showFrames(item) {
  $("grid").hidden = $("screen").hidden = Boolean(item.problem);
  $("instead").hidden = !item.problem;
  $("instead").textContent = `${item.problem}\n\nN goes to the next item.`;
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
  focusFrame();
}

function focusFrame() {
  if (document.querySelector("dialog[open]") || !current.frames.length) return;
  frameButton(focused).focus({ preventScroll: true }); // a narrow screen begins with the question
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

const frameButton = (place) => $("grid").children[place].firstElementChild;

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
    const { number, place: at } = current;
    const saved = await send("/api/pick", { annotator: session.annotator, item: number, position: place });
    await goOn(at, saved.decision, `Item ${at + 1}: frame ${letters[place]} picked and saved. U takes it back.`);
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

async function openAgreement() {
  const place = $("agreement-text");
  try {
    const { pairs, differences } = await ask("/api/agreement");
    place.replaceChildren(...(pairs.length ? [...agreementTable(pairs), ...differing(differences)]
      : [paragraph("No two annotators have decided on the same item yet.")]));
  } catch (error) {
    place.replaceChildren(paragraph(error.message));
  }
  $("agreement-dialog").showModal();
}

function agreementTable(pairs) {
  const number = (value, digits, unit = "") => value === null ? "–" : value.toFixed(digits) + unit;
  const percent = (value) => value === null ? "–" : `${(100 * value).toFixed(1)} %`;
  const interval = (found) => found === null ? "–"
    : `${found[0].toFixed(2)} [${found[1].toFixed(2)}, ${found[2].toFixed(2)}]`;
  const head = ["Annotators", "Items both picked", "Same frame", "Same by chance",
    "Corrected for chance [95 %]", "Mean distance, frames", "Mean distance, seconds", "One skipped"];
  const rows = pairs.map((pair) => [`${pair.first} and ${pair.second}`, pair.items,
    percent(pair.share), percent(pair.chance), interval(pair.corrected), number(pair.frames, 1), number(pair.seconds, 2),
    pair.one_skipped]);
  return [tableOf(head, rows), paragraph("Over the items for which both picked a frame. By chance: both pick blindly among the frames shown. Corrected: 1 if they always pick the same, 0 at chance.")];
}

// Which items, and how far apart: not who picked what.
function differing(differences) {
  if (!differences.length) return [paragraph("They differ on no item.")];
  const list = document.createElement("ul");
  list.id = "differences";
  list.replaceChildren(...differences.map((each) => {
    const line = document.createElement("li");
    const place = session.items.findIndex((item) => item.id === each.id);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = each.id;
    button.disabled = place < 0;
    button.addEventListener("click", () => { $("agreement-dialog").close(); go(place); });
    const apart = each.other_video ? "picked on different videos"
      : each.seconds !== null ? `${seconds(each.seconds)} apart` : each.picked > 1 ? "different frames" : "";
    const skipped = each.skipped ? `skipped by ${each.skipped} of ${each.picked + each.skipped}` : "";
    line.append(button, " ", [apart, skipped].filter(Boolean).join(", "));
    return line;
  }));
  const title = document.createElement("h3");
  title.textContent = `Items on which annotators differ: ${differences.length}`;
  return [title, list];
}

let planned = null; // what the person was asked about

async function openInstall() {
  $("whose-me").textContent = `of ${session.annotator} alone`;
  $("install-dialog").querySelector("input[value='']").checked = true;
  $("install-dialog").showModal();
  await planInstall();
}

async function planInstall() {
  const mine = document.querySelector("#whose input:checked").value === "me";
  planned = null;
  for (const id of ["install-problem", "install-plan"]) $(id).textContent = "";
  $("install-replace").checked = false;
  $("install-save").disabled = true;
  $("install-agree").hidden = true;
  try {
    const plan = await ask(`/api/install?whose=${mine ? who() : ""}`);
    if (mine !== (document.querySelector("#whose input:checked").value === "me")) return;
    planned = plan;
  } catch (error) {
    $("install-problem").textContent = error.message;
    return;
  }
  const left = Object.entries(planned.left_out).filter(([, count]) => count)
    .map(([why, count]) => `${count} ${why}`);
  $("install-plan").textContent = `${planned.picks} picks would be written to ${planned.path}.`
    + (left.length ? ` Left out: ${left.join(", ")}.` : "");
  $("install-agree").hidden = false;
  $("install-replace-text").textContent = planned.existing
    ? `Replace the ${planned.existing} picks that are there now` : "Write them: there are none now";
}

async function saveInstall() {
  if (!planned || !$("install-replace").checked || busy) return;
  busy = true;
  try {
    const saved = await send("/api/install", {
      annotator: session.annotator, whose: planned.whose, picks: planned.picks, stamp: planned.stamp,
    });
    $("install-dialog").close();
    say(`${saved.picks} picks are installed: ${saved.path}`);
  } catch (error) {
    $("install-problem").textContent = error.message;
  } finally {
    busy = false;
  }
}

// Keys

const COMMANDS = {
  KeyL: () => enlarge(focused),
  KeyP: togglePlay,
  KeyU: undo,
  KeyK: openSkip,
  KeyN: goNext,
  KeyB: goBack,
  KeyO: goOpen,
  KeyG: openJump,
  KeyT: toggleAnswer,
  KeyM: openAgreement,
  KeyI: openInstall,
  KeyY: openAnnotator,
};
const ARROWS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -4, ArrowDown: 4 };

function dialogKey(dialog, event) {
  if (dialog.id !== "large") return;
  if (event.code in ARROWS) {
    event.preventDefault();
    enlarge(focused + ARROWS[event.code]);
  } else if (event.code === "KeyL" && !event.repeat) {
    dialog.close();
  }
}

// Four, or fewer on a narrow screen.
const columns = () => getComputedStyle($("grid")).gridTemplateColumns.split(" ").length;

function moveKey(event) {
  if (!(event.code in ARROWS)) return false;
  if (document.activeElement === $("video")) return true; // the player's own keys
  event.preventDefault();
  const onGrid = document.activeElement.classList.contains("frame");
  const step = ARROWS[event.code];
  moveTo(onGrid ? focused + (Math.abs(step) > 1 ? Math.sign(step) * columns() : step) : focused);
  return true;
}

// The square of frames goes by the place of a key: on some layouts a command's letter is among
// them, and the letter that is shown on the frame wins.
function decideKey(event) {
  const place = PLACES.indexOf(event.code);
  if (place >= 0) pick(place);
  return place >= 0;
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

$("grid").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  // Clicks made by Enter or a screen reader have no detail and are never a double click.
  if (!button || event.detail > 1 || (event.detail && performance.now() < settled)) return;
  if (button.dataset.enlarge) enlarge(Number(button.dataset.enlarge));
  else pick(Number(button.dataset.place));
});

$("whose").addEventListener("change", planInstall);
$("install-replace").addEventListener("change", (event) => {
  $("install-save").disabled = !planned || !event.target.checked;
});

start({
  title: "Handpick",
  command: "video-reasoning handpick serve",
  noItems: "There are no items to pick for.",
  brokenWord: "without video",
  reasons: [
    "No frame tells more than the others",
    "The question cannot be understood",
    "The options are wrong or say the same",
    "The video does not fit the question",
  ],
  welcome: (name) => `${name} is picking now.`,
  ready: readLayout,
  render,
  prepare: (item) => item.frames.forEach((_, place) => { new Image().src = picture(item.number, place); }),
  decided: () => { markPicked(); showState(); },
  focus: () => { if (current.frames.length) frameButton(focused).focus(); },
  dialogKey,
  moveKey,
  decideKey,
  commands: COMMANDS,
  forms: { "install-dialog": saveInstall },
  buttons: {
    "answer-button": toggleAnswer,
    "agreement-button": openAgreement,
    "install-button": openInstall,
    "large-pick": () => { $("large").close(); pick(focused); },
  },
});
