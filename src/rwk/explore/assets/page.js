// What the page does without asking the server: tooltips, keyboard, pictures, the link, errors, light and dark.
(function () {
  "use strict";
  const NAMES = ["beta_local", "beta_global", "entropy", "hops", "return_weight", "attribute_weight", "feature_metric"];
  const byId = (name) => document.getElementById(name);
  const skip = () => window.dash_clientside.no_update;
  const darkPage = window.matchMedia("(prefers-color-scheme: dark)");
  const themeName = () => (darkPage.matches ? "dark" : "light");

  // ---- messages

  let fading;
  function toast(text, warn) {
    const box = byId("toast");
    if (!box) return;
    byId("toast-text").textContent = text;
    box.className = warn ? "warn" : "";
    box.hidden = false;
    clearTimeout(fading);
    if (!warn) fading = setTimeout(() => { box.hidden = true; }, 4000);
  }

  // an error of the server, or no answer at all, would otherwise be seen in the console only
  const plainFetch = window.fetch;
  window.fetch = async function (...given) {
    const mine = String(given[0] && given[0].url ? given[0].url : given[0]).includes("_dash-update-component");
    try {
      const answer = await plainFetch.apply(this, given);
      if (mine && !answer.ok) {
        const said = answer.status < 500 ? await answer.clone().text() : "see the terminal in which it runs";
        toast(`The explorer could not do this (${said.slice(0, 200)}).`, true);
      }
      return answer;
    } catch (error) {
      if (mine) toast("The explorer does not answer. Perhaps it was stopped: start it again with rwk explore.", true);
      throw error;
    }
  };

  // ---- pictures

  function save(address, name) {
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    document.body.appendChild(link);
    link.click();
    link.remove();
  }
  function drawing() {
    const box = byId("pair");
    for (const part of box ? [box, ...box.querySelectorAll("div")] : []) if (part._cyreg) return part._cyreg.cy;
    return null;
  }
  const plot = () => document.querySelector("#map .js-plotly-plot");
  const ground = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // ---- what each node is and pays

  let node = -1;
  function tell(target) {
    const box = byId("hint"), around = drawing().container().getBoundingClientRect(), at = target.renderedPosition();
    box.textContent = target.data("hint");
    box.hidden = false;
    const left = Math.min(around.left + at.x + 16, window.innerWidth - box.offsetWidth - 8);
    box.style.left = `${Math.max(8, left)}px`;
    box.style.top = `${Math.max(8, around.top + at.y - box.offsetHeight - 10)}px`;
  }
  const silent = () => { const box = byId("hint"); if (box) box.hidden = true; };
  function stepNode(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const cy = drawing();
    if (event.key === "Escape") silent();
    if (!step || !cy || !cy.nodes().length) return;
    event.preventDefault();
    const all = cy.nodes();
    node = (Math.max(node, step > 0 ? -1 : 0) + step + all.length) % all.length;
    all.unselect();
    all[node].select();
    tell(all[node]);
  }

  // ---- from graph to graph on the map

  let current = null;
  function points() {
    const found = [];
    plot().data.forEach((trace, curve) => (trace.customdata || []).forEach((key, i) => {
      found.push({ key, curve, i, x: trace.x[i], y: trace.y[i] });
    }));
    return found;
  }
  function stepGraph(event) {
    const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const gd = plot();
    if (!gd || (!way && event.key !== "Enter")) return;
    event.preventDefault();
    const all = points();
    const here = all.find((point) => point.key === current) || all[0];
    if (!here) return;
    if (event.key === "Enter") {
      window.dash_clientside.set_props("map-key", { data: { key: here.key, at: Date.now() } });
      return;
    }
    let best = null, least = Infinity;
    for (const point of all) {
      const along = (point.x - here.x) * way[0] + (point.y - here.y) * way[1];
      const across = Math.abs((point.x - here.x) * way[1]) + Math.abs((point.y - here.y) * way[0]);
      if (point.key !== here.key && along > 1e-9 && along + 2 * across < least) {
        best = point;
        least = along + 2 * across;
      }
    }
    const next = current === null ? here : best || here;
    current = next.key;
    window.Plotly.Fx.hover(gd, [{ curveNumber: next.curve, pointNumber: next.i }]);
  }

  // ---- once the page is there

  function connect() {
    const cy = drawing(), map = byId("map-box");
    if (!cy || !map || !plot()) return void setTimeout(connect, 150);
    cy.on("mouseover tapstart", "node", (event) => tell(event.target));
    cy.on("mouseout", "node", silent);
    cy.on("pan zoom remove", silent);
    cy.on("layoutstop", () => { cy.nodes().unselect(); node = -1; });
    byId("drawing").addEventListener("keydown", stepNode);
    byId("drawing").addEventListener("blur", silent);
    map.addEventListener("keydown", stepGraph);
    document.addEventListener("scroll", silent, { passive: true });
    darkPage.addEventListener("change", () => window.dash_clientside.set_props("theme", { data: themeName() }));
  }
  connect();

  // ---- callbacks of the page

  let waiting = null;
  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    explorer: {
      // neighbours are compared once the sliders rest
      settle(...values) {
        if (waiting) { clearTimeout(waiting.timer); waiting.done(skip()); }
        const settled = Object.fromEntries(NAMES.map((name, i) => [name, name === "feature_metric" ? values[i] : Number(values[i])]));
        return new Promise((done) => {
          waiting = { done, timer: setTimeout(() => { waiting = null; done(settled); }, 250) };
        });
      },
      // the address of the page is always the link to what it shows
      address(chosen, ...values) {
        const start = values.pop();
        const query = new URLSearchParams({ a: chosen.a, b: chosen.b });
        NAMES.forEach((name, i) => { if (String(values[i]) !== String(start[name])) query.set(name, values[i]); });
        window.history.replaceState(null, "", `?${query}`);
        const own = chosen.a.startsWith("u:") || chosen.b.startsWith("u:");
        return own ? "The link works until the explorer is stopped, since it shows a graph of your own"
          : "Copy a link to these two graphs and these sliders";
      },
      theme: () => themeName(),
      style: (theme, sheets) => sheets[theme],
      fit() {
        window.Plotly.relayout(plot(), { "xaxis.autorange": true, "yaxis.autorange": true });
        drawing().nodes().unselect();
        drawing().fit(undefined, 26);
        silent();
        return skip();
      },
      copyLink() {
        const done = () => toast("The link was copied.", false);
        const failed = () => toast(`Copy this link: ${window.location.href}`, true);
        if (navigator.clipboard) navigator.clipboard.writeText(window.location.href).then(done, failed);
        else failed();
        return skip();
      },
      mapPicture() {
        window.Plotly.toImage(plot(), { format: "png", width: 1000, height: 800, scale: 2 })
          .then((address) => save(address, "map.png"));
        return skip();
      },
      pairPicture() {
        save(drawing().png({ full: true, scale: 2, bg: ground("--canvas") }), "pair.png");
        return skip();
      },
      closeToast() {
        byId("toast").hidden = true;
        return skip();
      },
    },
  });
})();
