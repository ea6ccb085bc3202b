// Draws each chart of a page with Vega-Lite once it is visible, in the colours of the page.
const isDark = () => document.documentElement.dataset.theme === "dark";
const actions = { export: true, source: false, compiled: false, editor: false };

function draw(box) {
  const spec = box.spec || JSON.parse(box.querySelector("script").textContent);
  box.spec = spec;
  vegaEmbed(box, spec, { actions, theme: isDark() ? "dark" : undefined });
}

const drawVisible = () =>
  document.querySelectorAll(".chart").forEach((box) => {
    if (box.checkVisibility() && !box.spec) draw(box);
  });
const drawAgain = () =>
  document.querySelectorAll(".chart").forEach((box) => {
    if (box.spec) draw(box);
  });

addEventListener("load", drawVisible);
document.addEventListener("toggle", drawVisible, true);
new MutationObserver(drawAgain).observe(document.documentElement, { attributeFilter: ["data-theme"] });
