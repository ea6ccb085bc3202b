// Draws each chart of a page with Vega-Lite once it is visible, in the colours of the page.
const isDark = () => document.documentElement.dataset.theme === "dark";
const actions = { export: true, source: false, compiled: false, editor: false };

function draw(box) {
  box.text = box.text || box.querySelector("script").textContent;
  // A black line would not be seen on a dark page.
  const spec = JSON.parse(isDark() ? box.text.replaceAll(/"(black|#000000)"/g, '"#e8e8e8"') : box.text);
  vegaEmbed(box, spec, { actions, theme: isDark() ? "dark" : undefined });
}

const drawVisible = () =>
  document.querySelectorAll(".chart").forEach((box) => {
    if (box.checkVisibility() && !box.text) draw(box);
  });
const drawAgain = () =>
  document.querySelectorAll(".chart").forEach((box) => {
    if (box.text) draw(box);
  });

addEventListener("load", drawVisible);
document.addEventListener("toggle", drawVisible, true);
new MutationObserver(drawAgain).observe(document.documentElement, { attributeFilter: ["data-theme"] });
