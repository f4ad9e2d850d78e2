// The queue: jobs that wait, run and have ended; and one job as it goes on.
import { JobPanel, JobRows, useJobs } from "../compute.js";
import { html, Link, Problem, useEffect, useState } from "../lib.js";

export function Jobs() {
  const [jobs, problem, ask] = useJobs();
  useEffect(() => {
    document.title = "Jobs · Equilibrist";
  }, []);
  const groups = [
    ["Running and waiting", (job) => ["running", "waiting"].includes(job.state)],
    ["Stopped", (job) => ["paused", "cancelled", "failed"].includes(job.state)],
    ["Done", (job) => job.state === "done"],
  ];
  return html`<main class="narrow">
    <div><h1>Jobs</h1><p class="muted">Spots, trainings and proofs run one after the other, beside the page. They are saved as they go on, so they can be paused, and they outlive the server.</p></div>
    <${Problem} text=${problem} />
    ${jobs?.length === 0 && html`<p>Nothing was computed from this page yet. <${Link} to="/spots/new">Solve a spot</${Link}>, or <${Link} to="/bots">train a bot</${Link}>.</p>`}
    ${groups.map(([title, belongs]) => {
      const found = (jobs || []).filter(belongs);
      return found.length > 0 && html`<section key=${title}><h2>${title}</h2><${JobRows} jobs=${found} onChange=${ask} /></section>`;
    })}
  </main>`;
}

export function Job({ id }) {
  const [job, setJob] = useState(null);
  useEffect(() => {
    document.title = `${job ? job.title : "Job"} · Equilibrist`;
  }, [job]);
  return html`<main class="narrow job">
    <div><h1>${job ? job.title : "Job"}</h1>${job && html`<p class="muted">in the folder ${job.folder}</p>`}</div>
    <${JobPanel} id=${id} onState=${setJob} />
    <p><${Link} to="/jobs">All jobs</${Link}></p>
  </main>`;
}
