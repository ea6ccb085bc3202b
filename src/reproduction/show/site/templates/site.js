// Search and filters of the front page, and the buttons that copy a command. No framework, no network.
"use strict";

(function filters() {
  const search = document.getElementById("search");
  if (!search) return;
  const cards = [...document.querySelectorAll(".card")];
  const groups = [...document.querySelectorAll(".chips")];
  const found = document.getElementById("found");
  const order = [...document.querySelectorAll(".results")].map((section) => ({ section, own: [...section.querySelectorAll(".card")] }));
  const start = document.querySelector(".tools");
  const nothing = document.getElementById("nothing");

  const chosen = (group) => [...group.querySelectorAll("[aria-pressed=true]")].map((chip) => chip.dataset.value);

  function meets(card, words, wanted) {
    const text = card.dataset.text;
    if (!words.every((word) => text.includes(word))) return false;
    return wanted.every(([group, values]) => !values.length || values.some((v) => card.dataset[group].split(" ").includes(v)));
  }

  function show() {
    const words = search.value.toLowerCase().replaceAll("_", " ").split(/\s+/).filter(Boolean);
    const wanted = groups.map((group) => [group.dataset.group, chosen(group)]);
    let count = 0;
    for (const card of cards) {
      card.hidden = !meets(card, words, wanted);
      count += !card.hidden;
    }
    for (const section of document.querySelectorAll(".results")) {
      section.hidden = !section.querySelector(".card:not([hidden])");
    }
    // Results with all words in their titles come first, and so does their paper.
    const titled = (card) => !!words.length && !card.hidden && words.every((word) => ` ${card.querySelector("h3").textContent.toLowerCase().replaceAll(/[^\p{L}\p{N}%]+/gu, " ")} `.includes(` ${word} `));
    const sections = order.map(({ section, own }) => {
      section.querySelector(".grid").append(...own.toSorted((a, b) => titled(b) - titled(a)));
      return [section, own.some(titled)];
    });
    start.after(...sections.sort((a, b) => b[1] - a[1]).map(([section]) => section));
    found.textContent = count === 1 ? "1 result" : `${count} results`;
    nothing.hidden = count > 0;
  }

  function remember() {
    const address = search.value ? `?q=${encodeURIComponent(search.value)}` : location.pathname;
    try { history.replaceState(null, "", address + location.hash); } catch { /* some browsers refuse this for files */ }
  }

  search.addEventListener("input", () => { show(); remember(); });
  for (const group of groups) {
    group.addEventListener("click", (event) => {
      const chip = event.target.closest("button");
      if (!chip) return;
      chip.setAttribute("aria-pressed", chip.getAttribute("aria-pressed") !== "true");
      show();
    });
  }
  document.getElementById("clear").addEventListener("click", () => {
    search.value = "";
    document.querySelectorAll(".chips [aria-pressed=true]").forEach((chip) => chip.setAttribute("aria-pressed", "false"));
    show();
    remember();
  });
  search.value = new URLSearchParams(location.search).get("q") || search.value;
  show();
  if (search.value) search.scrollIntoView();
})();

for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    const text = button.dataset.text;
    try {
      await navigator.clipboard.writeText(text);
    } catch { // a page from a file may not reach the clipboard: select the text instead
      const range = document.createRange();
      range.selectNodeContents(button.previousElementSibling);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

// A link to a claim or a value inside a closed part opens it.
function open() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = target && target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
}
addEventListener("hashchange", open);
open();
