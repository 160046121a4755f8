"use strict";
// Unpacks plotly.js, draws every figure of the page, and keeps its ink readable in light, dark and print.
(async () => {
  const ink = {
    light: { text: "#1d2126", grid: "#e4e6e9" },
    dark: { text: "#e4e6e9", grid: "#3a3f46" },
  };
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const narrow = window.matchMedia("screen and (max-width: 40rem)");

  function themed(layout, colors) {
    const copy = structuredClone(layout);
    const template = (copy.template ??= {});
    const base = (template.layout ??= {});
    for (const part of [base, copy]) {
      part.paper_bgcolor = part.plot_bgcolor = "rgba(0,0,0,0)";
      part.font = { ...part.font, color: colors.text, family: "system-ui, sans-serif" };
      for (const key of Object.keys(part)) {
        if (/^[xy]axis\d*$/.test(key)) Object.assign(part[key], { gridcolor: colors.grid, linecolor: colors.grid, zerolinecolor: colors.grid });
      }
    }
    return copy;
  }

  // On a phone the legend's rows would lie on the axis title: the figure grows by them, and keeps its own height.
  function fitted(layout, data) {
    const named = data.filter((trace) => trace.name && trace.showlegend !== false).length;
    if (!narrow.matches || named < 2) return;
    const inner = layout.height - layout.margin.t - layout.margin.b;
    const rows = named * 20;
    layout.legend = { ...layout.legend, orientation: "v", x: 0, y: -64 / inner, yanchor: "top", maxheight: rows };
    layout.height += rows;
    layout.margin.b += rows;
  }

  const plots = [...document.querySelectorAll(".plot")].map((place) => ({
    place,
    spec: JSON.parse(place.querySelector("script").textContent),
    target: place.appendChild(document.createElement("div")),
  }));

  function draw(colors, width) {
    return Promise.all(plots.map(({ place, spec, target }) => {
      const layout = themed(spec.layout, colors);
      layout.height ??= 450;
      layout.margin ??= { l: 64, r: 24, t: 56, b: 56 };
      layout.autosize = true;
      if (width) layout.width = width;
      else delete layout.width;
      fitted(layout, spec.data);
      return Plotly.react(target, structuredClone(spec.data), layout, { responsive: true, displaylogo: false, displayModeBar: false })
        .catch(() => place.classList.add("undrawn"));
    }));
  }

  try {
    const packed = atob(document.getElementById("plotly").textContent);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const library = document.createElement("script");
    library.textContent = await new Response(plain).text();
    document.head.appendChild(library);
  } catch {
    for (const { place } of plots) place.classList.add("undrawn");
    return;
  }
  const current = () => (dark.matches ? ink.dark : ink.light);
  await draw(current());
  document.documentElement.dataset.drawn = String(plots.length);
  for (const query of [dark, narrow]) query.addEventListener("change", () => draw(current()));
  window.addEventListener("beforeprint", () => draw(ink.light, 680)); // the width of a sheet
  window.addEventListener("afterprint", () => draw(current()));
})();
