"use strict";
// Copies tables, and shows pictures larger. The page works without it.

function cellText(cell) {
  const detail = cell.querySelector("small");
  const lines = [""];
  for (const node of cell.childNodes) {
    if (node === detail) continue;
    if (node.nodeName === "DIV") lines.push("");
    lines[lines.length - 1] += node.textContent;
  }
  const text = lines.map((line) => line.trim()).filter(Boolean).join(", ");
  return detail ? `${text} (${detail.textContent})` : text;
}

const FORMS = {
  Markdown(rows) {
    const line = (cells) => `| ${cells.map((text) => text.replace(/([\\|*_`<>])/g, "\\$1")).join(" | ")} |`;
    const [head, ...body] = rows;
    return [line(head), line(head.map(() => "---")).replaceAll("\\", ""), ...body.map(line)].join("\n") + "\n";
  },
  LaTeX(rows) {
    const signs = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
      "κ": "$\\kappa$", "τ": "$\\tau$", "ρ": "$\\rho$", "×": "$\\times$", "−": "$-$", "–": "--", "∞": "$\\infty$" };
    const plain = (text) => text.replace(/[\\~^κτρ×−–∞]|[&%$#_{}]/g, (sign) => signs[sign] ?? `\\${sign}`);
    const line = (cells) => `${cells.map(plain).join(" & ")} \\\\`;
    const [head, ...body] = rows;
    return [`\\begin{tabular}{l${"r".repeat(head.length - 1)}}`, "\\toprule", line(head), "\\midrule",
      ...body.map(line), "\\bottomrule", "\\end{tabular}"].join("\n") + "\n";
  },
  CSV(rows) {
    const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    return rows.map((cells) => cells.map(quoted).join(",")).join("\n") + "\n";
  },
};

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

for (const scroller of document.querySelectorAll(".scroll")) {
  const tools = document.createElement("div");
  tools.className = "tools";
  tools.append("Copy:");
  for (const [name, write] of Object.entries(FORMS)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.addEventListener("click", async () => {
      const rows = [...scroller.querySelectorAll("tr")].map((row) => [...row.cells].map(cellText));
      await copy(write(rows));
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = name), 1500);
    });
    tools.append(button);
  }
  scroller.after(tools);
}

const large = document.createElement("dialog");
const caption = document.createElement("p");
large.addEventListener("click", () => large.close());
document.body.append(large);
let shown = null;

function enlarge(image) {
  if (!image) return;
  shown = image;
  const picture = document.createElement("img");
  picture.src = image.src;
  picture.alt = image.alt;
  large.replaceChildren(picture, caption);
  caption.textContent = `${image.alt} (← →: others, Esc: back)`;
  if (!large.open) large.showModal();
}

function next(step) {
  const all = [...shown.closest(".frames").querySelectorAll("img")];
  enlarge(all[all.indexOf(shown) + step]);
}

for (const image of document.querySelectorAll(".frames img")) {
  image.tabIndex = 0;
  image.addEventListener("click", () => enlarge(image));
  image.addEventListener("keydown", (event) => {
    if (event.key === "Enter") enlarge(image);
  });
}
large.addEventListener("keydown", (event) => {
  if (event.key === "ArrowRight") next(1);
  if (event.key === "ArrowLeft") next(-1);
});
