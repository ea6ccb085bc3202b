// What a script in a page can see of it; each function gives what is wrong.
const rgba = (text) => {
  const [r, g, b, a = 1] = text.match(/-?[0-9.]+(e-?[0-9]+)?/g).map(Number);
  return text.startsWith("color(") ? [255 * r, 255 * g, 255 * b, a] : [r, g, b, a];
};
const over = (top, below) => [0, 1, 2].map((i) => top[3] * top[i] + (1 - top[3]) * below[i]);
const light = (c) => c.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
function contrast(colour, ground) {
  const [a, b] = [light(colour), light(ground)].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}
const within = (element) => element ? [element, ...within(element.parentElement)] : [];
const place = (e) => e.tagName.toLowerCase() + (e.getAttribute("class") ? "." + e.getAttribute("class").trim() : "");
const visible = (e) => e.getClientRects().length && e.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  && !within(e).some((up) => up.matches(".hidden, .skip, .visually-hidden"));
// WCAG 2.1 AA: 4.5 of text, 3 of text from 24 px, or 18.66 px in bold
function pale(window, page) {
  const found = {}, walk = page.createTreeWalker(page.body, 4);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !visible(e) || e.closest("script, style, [disabled], [aria-pressed=false]")) continue;
    const style = window.getComputedStyle(e), above = within(e);
    let ground = [255, 255, 255];
    for (const up of [...above].reverse()) ground = over(rgba(window.getComputedStyle(up).backgroundColor), ground);
    const colour = rgba(e instanceof window.SVGElement ? style.fill : style.color);
    for (const up of above) colour[3] *= Number(window.getComputedStyle(up).opacity);
    const size = parseFloat(style.fontSize), needed = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    const ratio = contrast(over(colour, ground), ground);
    if (ratio < needed - 0.005) found[place(e)] = `${ratio.toFixed(2)} of ${needed}: ${walk.currentNode.data.trim().slice(0, 40)}`;
  }
  return found;
}
// what can be pressed can be reached, in the order of the page, and shows it; what scrolls can be scrolled by keys
function unreached(window, page) {
  const found = [], all = [...page.querySelectorAll("a[href], button, input, select, summary, [tabindex]")].filter(visible);
  for (const e of all) {
    if (e.tabIndex > 0) found.push("out of order: " + place(e));
    if (e.tabIndex < 0 || e.disabled) continue;
    e.focus({ focusVisible: true, preventScroll: true });
    const style = window.getComputedStyle(e);
    if (page.activeElement !== e) found.push("cannot be reached: " + place(e));
    else if (style.outlineStyle === "none" && style.boxShadow === "none") found.push("no mark of the focus: " + place(e));
    if (!(e.innerText || e.value || e.placeholder || e.ariaLabel || e.title || e.querySelector("img[alt]"))) found.push("no name: " + place(e));
  }
  for (const e of page.querySelectorAll("main *, body *")) {
    const style = window.getComputedStyle(e);
    const scrolls = (e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(style.overflowX))
      || (e.scrollHeight > e.clientHeight + 1 && /auto|scroll/.test(style.overflowY));
    if (scrolls && e !== page.body && visible(e) && e.tabIndex < 0 && !e.querySelector("a[href], button, input, [tabindex]"))
      found.push("scrolls only by pointer: " + place(e));
  }
  return [...new Set(found)];
}
// the rules for a medium, or a colour scheme, as if it were there
function as(window, page, asked) {
  const rules = (list) => [...list].flatMap((rule) => rule.media ? [rule, ...rules(rule.cssRules)] : []);
  for (const sheet of page.styleSheets) {
    if (sheet.media.mediaText === asked) sheet.media.mediaText = "all";
    for (const rule of rules(sheet.cssRules)) if (rule.media.mediaText.includes(asked)) rule.media.mediaText = "all";
  }
  if (asked.includes("dark") && page.documentElement.dataset) page.documentElement.dataset.theme = "dark";
}
const wide = (page) => page.documentElement.scrollWidth;
async function checked(name) {
  const told = {};
  await visit(name, 1280, (window, page) => {
    for (const each of page.querySelectorAll("details")) each.open = true;
    told.pale = pale(window, page);
    told.unreached = unreached(window, page);
    as(window, page, "dark");
    told.pale_in_the_dark = pale(window, page);
  });
  told.phone = await visit(name, 390, (window, page) => wide(page));
  await visit(name, 700, (window, page) => {
    as(window, page, "print");
    told.paper = wide(page);
    told.printed = [...page.querySelectorAll("nav.top, .tools, .copy, #search")].filter(visible).map(place);
    const box = page.querySelector(".tablebox");
    told.cut = !!box && window.getComputedStyle(box).overflowX !== "visible";
  });
  return told;
}
