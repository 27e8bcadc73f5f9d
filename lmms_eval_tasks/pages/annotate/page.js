"use strict";

let asked = 0; // when the item came up
let enlarged = 0; // the frame that is looked at enlarged

// What is shown

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function render(item, other) {
  $("question").textContent = item.question;
  const quoted = item.hypothesis || item.response || "";
  $("quoted").textContent = quoted;
  $("quoted").hidden = !quoted;
  const closed = item.choices && item.choices.length > 0 && !item.problem;
  $("choices").hidden = !closed;
  $("choices").replaceChildren(...(closed ? item.choices.map((choice, place) => choiceButton(item, choice, place)) : []));
  $("form").hidden = Boolean(closed || item.problem);
  $("form-problem").textContent = "";
  if (!closed && !item.problem) {
    $("fields").replaceChildren(...(item.form ? item.form.map((part) => criterion(item, part)) : texts(item)));
  }
  $("instead").hidden = !item.problem && item.shown !== "blind";
  $("instead").textContent = item.problem ? `${item.problem}\n\n→ goes to the next item.`
    : "The video is not shown: answer from the question alone.";
  const frames = Array.from({ length: item.frames }, (_, place) => place);
  $("screen").hidden = Boolean(item.problem) || frames.length > 0 || item.shown === "blind";
  $("grid").hidden = !frames.length;
  $("grid").className = frames.length > 1 ? "" : "single";
  $("grid").replaceChildren(...frames.map((place) => frameButton(item, place)));
  $("play").hidden = $("screen").hidden;
  $("look").hidden = !frames.length;
  document.body.classList.toggle("rates", Boolean(item.form));
  if (other) {
    if ($("screen").hidden) {
      $("video").removeAttribute("src");
      $("video").load();
    } else {
      showVideo(item);
    }
    document.querySelector("main").scrollTop = 0;
    $("ask").scrollTop = 0;
    asked = performance.now();
  }
  decided();
  if (!document.querySelector("dialog[open]")) focus();
}

function choiceButton(item, choice, place) {
  const label = item.kind === "yes_no" ? (choice === "yes" ? "Yes" : "No") : item.options[place];
  const key = item.kind === "yes_no" ? choice[0].toUpperCase() : choice;
  const button = element("button", { type: "button", className: "choice" },
    element("kbd", { textContent: key }), element("span", { textContent: label }));
  button.dataset.choice = choice;
  button.setAttribute("aria-keyshortcuts", key);
  return button;
}

function texts(item) {
  return Array.from({ length: item.responses }, (_, place) => {
    const count = element("span", { className: "soft" });
    const area = element("textarea", { rows: 4, maxLength: 1500, value: item.decision.responses[place] || "" });
    const tell = () => {
      const words = area.value.trim().split(/\s+/).filter(Boolean).length;
      count.textContent = words < 8 ? `${words} of at least 8 words` : `${words} words`;
    };
    area.addEventListener("input", tell);
    tell();
    const title = item.responses > 1 ? `Explanation ${place + 1} of ${item.responses}` : "Your explanation";
    return element("label", {}, element("span", { textContent: title }), area, count);
  });
}

function criterion(item, part) {
  const given = item.decision.ratings || {};
  const reasons = item.decision.reasons || {};
  const set = element("fieldset", { className: "criterion" }, element("legend", { textContent: part.title }),
    element("p", { textContent: part.question }));
  set.dataset.name = part.name;
  const scale = element("div", { className: part.labels.length > 2 ? "scale long" : "scale" });
  part.values.forEach((value, place) => {
    const choice = element("input", { type: "radio", name: part.name, value, checked: given[part.name] === value });
    const shown = part.labels[place] ? ` ${part.labels[place]}` : "";
    scale.append(element("label", {}, choice,
      element("span", {}, element("b", { textContent: part.keys[place] }), shown)));
  });
  set.append(scale);
  if (item.reasons) {
    set.append(element("label", { className: "why" }, element("span", { textContent: "Why this rating?" }),
      element("textarea", { rows: 2, maxLength: 600, value: reasons[part.name] || "" })));
  }
  return set;
}

// Without times: models are not told them, and they would give away a shuffled order.
function frameButton(item, place) {
  const image = element("img", { alt: "", src: picture(item.number, place) });
  const button = element("button", { type: "button", className: "frame" }, image,
    element("span", { className: "key", textContent: place + 1 }));
  button.dataset.place = place;
  button.setAttribute("aria-label", `Frame ${place + 1} of ${item.frames}: enlarge`);
  return element("div", { className: "cell" }, button);
}

function decided() {
  const { state, responses, skip } = current.decision;
  for (const button of $("choices").children) {
    button.setAttribute("aria-pressed", String((responses || []).includes(button.dataset.choice)));
  }
  $("state").className = state === "answered" ? "picked" : state;
  $("state").textContent = state === "answered"
    ? (current.choices && current.choices.length ? `Answered: ${responses[0]}` : "Saved")
    : state === "skipped" ? `Skipped: ${skip}` : "";
}

function focus() {
  const first = current && !current.problem && $("choices").hidden && $("fields").querySelector("textarea, input");
  // Texts are written at once; letters are commands, so a choice leaves the focus on the question.
  if (first && first.tagName === "TEXTAREA" && !current.form) first.focus({ preventScroll: true });
  else $("question").focus({ preventScroll: true });
}

// What a person does

const took = () => Math.round(performance.now() - asked) / 1000;

function answer(choice) {
  return change(async () => {
    const { number, place } = current;
    const saved = await send("/api/answer",
      { annotator: session.annotator, item: number, responses: [choice], took: took() });
    await goOn(place, saved.decision, `Item ${place + 1}: ${choice} saved. U takes it back.`);
  });
}

async function save() {
  const { number, place } = current;
  const body = { annotator: session.annotator, item: number, took: took() };
  if (current.form) {
    body.ratings = {};
    body.reasons = {};
    for (const set of $("fields").children) {
      const chosen = set.querySelector("input:checked");
      if (chosen) body.ratings[set.dataset.name] = Number(chosen.value);
      const why = set.querySelector("textarea");
      if (why && why.value.trim()) body.reasons[set.dataset.name] = why.value;
    }
  } else {
    body.responses = [...$("fields").querySelectorAll("textarea")].map((area) => area.value);
  }
  $("form-problem").textContent = "";
  return change(async () => {
    let saved;
    try {
      saved = await send(current.form ? "/api/rate" : "/api/answer", body);
    } catch (error) {
      if (error.status !== 422) throw error;
      $("form-problem").textContent = error.message; // what was written stays
      return;
    }
    await goOn(place, saved.decision, `Item ${place + 1} saved. U takes it back.`);
  });
}

function rate(value) {
  const active = document.activeElement.closest && document.activeElement.closest(".criterion");
  const set = active || [...$("fields").children].find((each) => !each.querySelector("input:checked"));
  const choice = set && [...set.querySelectorAll("input")][value];
  if (!choice) return;
  choice.checked = true;
  const why = set.querySelector("textarea");
  (why || choice).focus();
}

function enlarge(place) {
  if (place >= current.frames) return;
  enlarged = place;
  $("large-image").src = picture(current.number, place);
  $("large-image").alt = `Frame ${place + 1}, enlarged`;
  $("large-text").textContent = `Frame ${place + 1} of ${current.frames}`;
  if (!$("large").open) $("large").showModal();
}

// Keys

const ARROWS = { ArrowLeft: -1, ArrowRight: 1 };

function dialogKey(dialog, event) {
  if (dialog.id !== "large") return;
  if (event.code in ARROWS) {
    event.preventDefault();
    enlarge(Math.min(current.frames - 1, Math.max(0, enlarged + ARROWS[event.code])));
  } else if (event.code === "KeyL" && !event.repeat) {
    dialog.close();
  }
}

function typingKey(event) {
  if (event.key === "Escape") event.target.blur();
  controlKey(event);
}

function controlKey(event) {
  if (event.key !== "Enter" || !event.ctrlKey || event.repeat || $("form").hidden) return false;
  event.preventDefault();
  save();
  return true;
}

function moveKey(event) {
  if (!(event.code in ARROWS)) return false;
  const own = document.activeElement;
  if (own === $("video") || own.type === "radio" || event.repeat || event.shiftKey) return true; // their own keys
  event.preventDefault();
  go(current.place + ARROWS[event.code]);
  return true;
}

function decideKey(event) {
  if (current.problem) return false;
  const digit = /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : -1;
  if (current.form) {
    if (digit >= 0) rate(digit);
    return digit >= 0;
  }
  const letter = event.key.toLowerCase();
  const place = current.kind === "yes_no" ? ["y", "n"].indexOf(letter)
    : current.choices.map((choice) => choice.toLowerCase()).indexOf(letter);
  const chosen = current.choices[place >= 0 ? place : digit];
  if (chosen) answer(chosen);
  return Boolean(chosen);
}

$("choices").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  // Clicks made by Enter or a screen reader have no detail and are never a double click.
  if (!button || event.detail > 1 || (event.detail && performance.now() < settled)) return;
  answer(button.dataset.choice);
});
$("grid").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) enlarge(Number(button.dataset.place));
});
$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  save();
});

start({
  title: "Annotate",
  command: "video-reasoning annotate",
  noItems: "There are no items here.",
  brokenWord: "left out",
  reasons: [
    "The question cannot be understood",
    "The video does not play or is damaged",
    "The video is offensive or hateful",
    "I have seen this video before",
  ],
  welcome: (name) => `${name} is answering now.`,
  render,
  prepare: (item) => {
    for (let place = 0; place < item.frames; place++) new Image().src = picture(item.number, place);
  },
  decided,
  focus,
  dialogKey,
  typingKey,
  controlKey,
  moveKey,
  decideKey,
  commands: {
    KeyL: () => enlarge(0),
    KeyP: togglePlay,
    KeyU: undo,
    KeyK: openSkip,
    KeyO: goOpen,
    KeyG: openJump,
    KeyW: openAnnotator,
  },
  buttons: { look: () => enlarge(0) },
});
