// The page: finds the view of the address, and draws it below the navigation.
import { api, html, Link, Problem, render, useEffect, usePalette, useState } from "./lib.js";
import { Lobby } from "./views/lobby.js";
import { Strategies } from "./views/strategies.js";
import { Strategy } from "./views/strategy.js";
import { Table } from "./views/table.js";

// One line per view: the pattern of its address, and what draws it.
const VIEWS = [
  [/^\/(?:play)?$/, () => html`<${Lobby} />`],
  [/^\/table\/([a-z]+)$/, (id) => html`<${Table} key=${id} id=${id} />`],
  [/^\/strategies$/, () => html`<${Strategies} />`],
  [/^\/(strategy|spot)\/(.+)$/, (kind, name) => html`<${Strategy} key=${name} kind=${kind} name=${name} />`],
];

function viewOf(path) {
  for (const [pattern, draw] of VIEWS) {
    const found = pattern.exec(path);
    if (found) return draw(...found.slice(1).map(decode));
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
  const isPlay = /^\/(play|table|$)/.test(path);
  return html`
    <header class="top">
      <${Link} to="/" class="mark"><img src="/static/icon.svg" alt="" width="28" height="28" /><span>Equilibrist</span></${Link}>
      <nav aria-label="Views">
        <${Link} to="/play" aria-current=${isPlay ? "page" : null}>Play</${Link}>
        <${Link} to="/strategies" aria-current=${isPlay ? null : "page"}>Strategies</${Link}>
      </nav>
      <button class="text palette" aria-pressed=${palette !== "usual"} onClick=${changePalette} aria-label="Colour-blind palette" title="Colour-blind palette"><span class="dot" aria-hidden="true">◐</span> <span class="words">Colour-blind palette</span></button>
    </header>
    ${problem
      ? html`<main class="narrow"><h1>Not connected</h1><${Problem} text=${problem} /></main>`
      : about && viewOf(path)}`;
}

render(html`<${Page} />`, document.getElementById("page"));
