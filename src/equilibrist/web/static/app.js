// The page: finds the view of the address, and draws it below the navigation.
import { api, html, Link, Problem, render, useEffect, usePalette, useState } from "./lib.js";
import { Lobby } from "./views/lobby.js";
import { Strategies } from "./views/strategies.js";
import { Strategy } from "./views/strategy.js";
import { Table } from "./views/table.js";

/** A view whose module is loaded when it is first shown, with the name of its component. */
function later(load, name) {
  const Loaded = (properties) => {
    const [View, setView] = useState(null);
    useEffect(() => {
      load().then((module) => setView(() => module[name]), () => setView(() => Missing));
    }, []);
    return View && html`<${View} ...${properties} />`;
  };
  return Loaded;
}

const Missing = () => html`<main class="narrow"><${Problem} text="this view could not be loaded; reload the page" /></main>`;
const Spots = later(() => import("./views/spots.js"), "Spots");
const SpotForm = later(() => import("./views/spotform.js"), "SpotForm");
const Runouts = later(() => import("./views/reports.js"), "Runouts");
const Flops = later(() => import("./views/reports.js"), "Flops");
const Jobs = later(() => import("./views/jobs.js"), "Jobs");
const Job = later(() => import("./views/jobs.js"), "Job");
const Bots = later(() => import("./views/bots.js"), "Bots");
const Bot = later(() => import("./views/bots.js"), "Bot");

// One line per view: the pattern of its address, and what draws it.
const VIEWS = [
  [/^\/(?:play)?$/, () => html`<${Lobby} />`],
  [/^\/table\/([a-z]+)$/, (about, id) => html`<${Table} key=${id} id=${id} about=${about} />`],
  [/^\/strategies$/, () => html`<${Strategies} />`],
  [/^\/spots$/, (about) => html`<${Spots} about=${about} />`],
  [/^\/spots\/new$/, () => html`<${SpotForm} />`],
  [/^\/runouts\/(.+)$/, (about, name) => html`<${Runouts} key=${name} name=${name} />`],
  [/^\/flops\/(.+)$/, (about, name) => html`<${Flops} key=${name} name=${name} />`],
  [/^\/jobs$/, () => html`<${Jobs} />`],
  [/^\/jobs\/([a-z]+)$/, (about, id) => html`<${Job} key=${id} id=${id} />`],
  [/^\/bots$/, () => html`<${Bots} />`],
  [/^\/bots\/([^/]+)$/, (about, name) => html`<${Bot} key=${name} name=${name} about=${about} />`],
  [/^\/(strategy|spot)\/(.+)$/, (about, kind, name) => html`<${Strategy} key=${name} kind=${kind} name=${name} />`],
];

// The tabs: address, the views that belong to it, name, and whether a public server hides it.
const TABS = [
  ["/play", /^\/(play|table|$)/, "Play"],
  ["/strategies", /^\/strateg/, "Strategies"],
  ["/spots", /^\/(spots?|runouts|flops)(\/|$)/, "Spots"],
  ["/bots", /^\/bots/, "Bots"],
  ["/jobs", /^\/jobs/, "Jobs", true],
];

function viewOf(path, about) {
  for (const [pattern, draw] of VIEWS) {
    const found = pattern.exec(path);
    if (found) return draw(about, ...found.slice(1).map(decode));
  }
  return html`<main class="narrow"><h1>No such page</h1><p><${Link} to="/">To the tables</${Link}></p></main>`;
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function Page() {
  const [path, setPath] = useState(location.pathname);
  const [about, setAbout] = useState(null);
  const [problem, setProblem] = useState("");
  const [palette, changePalette] = usePalette();
  useEffect(() => {
    document.documentElement.dataset.palette = palette;
  }, [palette]);
  useEffect(() => {
    const moved = () => setPath(location.pathname);
    addEventListener("moved", moved);
    addEventListener("popstate", moved);
    api("/api/about").then(setAbout, (error) => setProblem(error.message));
    return () => {
      removeEventListener("moved", moved);
      removeEventListener("popstate", moved);
    };
  }, []);
  const tab = TABS.find(([, pattern]) => pattern.test(path)) || [];
  return html`
    <header class="top">
      <${Link} to="/" class="mark"><img src="/static/icon.svg" alt="" width="28" height="28" /><span>Equilibrist</span></${Link}>
      <nav aria-label="Views">
        ${TABS.filter(([, , , isPrivate]) => !(isPrivate && about?.is_public)).map((each) => html`
          <${Link} to=${each[0]} aria-current=${each === tab ? "page" : null}>${each[2]}</${Link}>`)}
      </nav>
      <button class="text palette" aria-pressed=${palette !== "usual"} onClick=${changePalette} aria-label="Colour-blind palette" title="Colour-blind palette"><span class="dot" aria-hidden="true">◐</span> <span class="words">Colour-blind palette</span></button>
    </header>
    ${problem
      ? html`<main class="narrow"><h1>Not connected</h1><${Problem} text=${problem} /></main>`
      : about && viewOf(path, about)}`;
}

render(html`<${Page} />`, document.getElementById("page"));
