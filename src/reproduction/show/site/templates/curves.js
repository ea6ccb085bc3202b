// Draws the curves of a result page: panels to choose from, methods to hide, values under the pointer.
"use strict";

(function curves() {
  const box = document.getElementById("curves");
  const panels = JSON.parse(box.querySelector("script").textContent);
  const [controls, plot, keys] = ["controls", "plot", "keys"].map((name) => box.querySelector(`.${name}`));
  const SPACE = { left: 64, right: 14, top: 26, bottom: 42 };
  const hidden = new Set();
  let panel = panels[0], logs = {}, scale = null;

  const element = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const shown = () => panel.curves.filter((curve) => !hidden.has(curve.method));
  const short = (value) => {
    const size = Math.abs(value);
    if (value !== 0 && (size >= 1e5 || size < 1e-3)) return Number(value.toPrecision(3)).toExponential().replace("e+", "e").replace("-", "−");
    return String(Number(value.toPrecision(4))).replace("-", "−");
  };

  // Logarithmic where values are positive, span a lot, and crowd at the low end.
  function wantsLog(values) {
    const sorted = values.filter((v) => v !== null).sort((a, b) => a - b);
    if (!sorted.length || sorted[0] <= 0) return false;
    const [low, middle, high] = [sorted[0], sorted[sorted.length >> 1], sorted[sorted.length - 1]];
    return high / low > 30 && middle < 0.3 * high;
  }
  const all = (key) => panel.curves.flatMap((curve) => curve[key]);
  const canLog = (key) => all(key).every((v) => v > 0);

  function axis(values, log, from, to) {
    let low = Math.min(...values), high = Math.max(...values);
    if (log) [low, high] = [Math.log10(low), Math.log10(high)];
    const pad = high > low ? 0.04 * (high - low) : 0.5 * Math.abs(high) || 1;
    low -= pad; high += pad;
    const at = (value) => from + (to - from) * ((log ? Math.log10(value) : value) - low) / (high - low);
    return { at, ticks: log ? decades(low, high) : steps(low, high) };
  }
  function steps(low, high) {
    const raw = (high - low) / 5, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw);
    const ticks = [];
    for (let v = Math.ceil(low / step) * step; v <= high; v += step) ticks.push(Math.abs(v) < step / 1e6 ? 0 : v);
    return ticks;
  }
  function decades(low, high) {
    const every = Math.max(1, Math.ceil((high - low) / 6)), ticks = [];
    const parts = high - low < 1.5 ? [1, 2, 5] : [1];
    for (let e = Math.floor(low); e <= high; e += every) {
      for (const part of parts) {
        const place = e + Math.log10(part);
        if (place >= low && place <= high) ticks.push(part * 10 ** e);
      }
    }
    return ticks;
  }

  function draw() {
    const width = Math.max(320, Math.min(1100, plot.clientWidth || 800)), height = Math.round(Math.max(260, width * 0.46));
    const visible = shown();
    plot.replaceChildren();
    const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${panel.title} against ${panel.x}` });
    plot.append(svg);
    scale = null;
    if (!visible.length) return;
    const points = (key) => visible.flatMap((curve) => curve[key].filter((v) => v !== null));
    const x = axis(points("x"), logs.x, SPACE.left, width - SPACE.right);
    const y = axis(points("y"), logs.y, height - SPACE.bottom, SPACE.top);
    scale = { x, y, width };
    for (const tick of x.ticks) {
      svg.append(element("line", { class: "axis-line", x1: x.at(tick), x2: x.at(tick), y1: SPACE.top, y2: height - SPACE.bottom }));
      svg.append(element("text", { x: x.at(tick), y: height - SPACE.bottom + 18, "text-anchor": "middle" }, short(tick)));
    }
    for (const tick of y.ticks) {
      svg.append(element("line", { class: "axis-line", x1: SPACE.left, x2: width - SPACE.right, y1: y.at(tick), y2: y.at(tick) }));
      svg.append(element("text", { x: SPACE.left - 8, y: y.at(tick) + 4, "text-anchor": "end" }, short(tick)));
    }
    svg.append(element("text", { x: (SPACE.left + width - SPACE.right) / 2, y: height - 6, "text-anchor": "middle" }, panel.x));
    svg.append(element("text", { x: 4, y: 11 }, panel.title));
    const clip = element("clipPath", { id: "inside" });
    clip.append(element("rect", { x: SPACE.left, y: SPACE.top, width: width - SPACE.left - SPACE.right, height: height - SPACE.top - SPACE.bottom }));
    svg.append(clip);
    for (const curve of visible) svg.append(...drawn(curve, x, y));
    svg.append(element("line", { class: "axis-line hair", y1: SPACE.top, y2: height - SPACE.bottom, visibility: "hidden" }));
  }

  function drawn(curve, x, y) {
    const { colour, dash } = curve;
    const line = curve.x.map((at, i) => `${x.at(at).toFixed(1)},${y.at(curve.y[i]).toFixed(1)}`);
    const parts = [];
    if (curve.half) {
      const floor = logs.y ? Math.min(...curve.y) / 10 : -Infinity;
      const end = (i, sign) => y.at(Math.max(floor, curve.y[i] + sign * (curve.half[i] || 0))).toFixed(1);
      const there = curve.x.map((at, i) => `${x.at(at).toFixed(1)},${end(i, 1)}`);
      const back = curve.x.map((at, i) => `${x.at(at).toFixed(1)},${end(i, -1)}`).reverse();
      parts.push(element("polygon", { points: [...there, ...back].join(" "), fill: colour, opacity: 0.13, "clip-path": "url(#inside)" }));
    }
    parts.push(element("polyline", { points: line.join(" "), fill: "none", stroke: colour, "stroke-width": 1.8, "stroke-dasharray": dash, "stroke-linejoin": "round" }));
    if (curve.x.length <= 25) for (const point of line) {
      const [cx, cy] = point.split(",");
      parts.push(element("circle", { cx, cy, r: 2.4, fill: colour }));
    }
    return parts;
  }

  function point(event) {
    plot.querySelector(".tip")?.remove();
    const hair = plot.querySelector(".hair");
    if (!scale || !hair) return;
    const box = plot.getBoundingClientRect(), at = (event.clientX - box.left) * scale.width / box.width;
    let nearest = null;
    for (const curve of shown()) for (const value of curve.x) {
      const away = Math.abs(scale.x.at(value) - at);
      if (!nearest || away < nearest.away) nearest = { away, value };
    }
    hair.setAttribute("visibility", "visible");
    hair.setAttribute("x1", scale.x.at(nearest.value));
    hair.setAttribute("x2", scale.x.at(nearest.value));
    const rows = shown().map((curve) => [curve, closest(curve, nearest.value)]).filter(([, i]) => i >= 0);
    rows.sort(([a, i], [b, j]) => b.y[j] - a.y[i]);
    const tip = document.createElement("div");
    tip.className = "tip";
    const table = document.createElement("table");
    table.createCaption().textContent = `${panel.x}: ${short(nearest.value)}`;
    for (const [curve, i] of rows.slice(0, 14)) {
      const row = table.insertRow();
      row.insertCell().textContent = curve.method;
      row.cells[0].style.color = curve.colour;
      row.insertCell().textContent = short(curve.y[i]) + (curve.half && curve.half[i] ? ` ± ${short(curve.half[i])}` : "");
    }
    tip.append(table);
    plot.append(tip);
    const left = scale.x.at(nearest.value) * box.width / scale.width;
    tip.style.top = "12px";
    tip.style.left = `${left > box.width / 2 ? Math.max(0, left - tip.offsetWidth - 14) : Math.min(left + 14, box.width - tip.offsetWidth)}px`;
  }
  // The curve's own point at this x, or beside it if the curve was measured elsewhere.
  function closest(curve, value) {
    let best = -1;
    curve.x.forEach((at, i) => {
      const away = Math.abs(scale.x.at(at) - scale.x.at(value));
      if (away < 12 && (best < 0 || away < Math.abs(scale.x.at(curve.x[best]) - scale.x.at(value)))) best = i;
    });
    return best;
  }

  function list(name, labels, chosen, choose, told = (label) => label) {
    const select = document.createElement("select");
    select.setAttribute("aria-label", name);
    for (const label of labels) select.add(new Option(told(label) || "all", label, false, label === chosen));
    select.addEventListener("change", () => choose(select.value));
    if (labels.length > 1) controls.append(select);
  }
  function toggle(key) {
    if (!canLog(key)) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `log ${key}`;
    button.setAttribute("aria-pressed", logs[key]);
    button.addEventListener("click", () => {
      logs[key] = !logs[key];
      button.setAttribute("aria-pressed", logs[key]);
      draw();
    });
    controls.append(button);
  }

  function choose(next) {
    panel = next;
    logs = { x: canLog("x") && wantsLog(all("x")), y: canLog("y") && wantsLog(all("y")) };
    controls.replaceChildren();
    const metrics = [...new Set(panels.map((each) => each.metric))];
    const places = panels.filter((each) => each.metric === panel.metric).map((each) => each.where);
    list("What", metrics, panel.metric, (metric) => choose(panels.find((each) => each.metric === metric && each.where === panel.where) || panels.find((each) => each.metric === metric)), (metric) => panels.find((each) => each.metric === metric).title);
    list("Where", places, panel.where, (where) => choose(panels.find((each) => each.metric === panel.metric && each.where === where)));
    toggle("x");
    toggle("y");
    legend();
    draw();
  }

  function legend() {
    keys.replaceChildren();
    for (const curve of panel.curves) {
      const { colour, dash } = curve;
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", !hidden.has(curve.method));
      const line = element("svg", { viewBox: "0 0 30 10", "aria-hidden": "true" });
      line.append(element("line", { x1: 0, x2: 30, y1: 5, y2: 5, stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dash }));
      button.append(line, curve.method || "all");
      button.addEventListener("click", () => {
        if (!hidden.delete(curve.method)) hidden.add(curve.method);
        button.setAttribute("aria-pressed", !hidden.has(curve.method));
        draw();
      });
      keys.append(button);
    }
  }

  plot.addEventListener("pointermove", point);
  plot.addEventListener("pointerleave", () => {
    plot.querySelector(".tip")?.remove();
    plot.querySelector(".hair")?.setAttribute("visibility", "hidden");
  });
  addEventListener("resize", draw);
  box.addEventListener("toggle", () => { if (box.open) draw(); });
  choose(panel);
})();
