// .opencode/plugins/vet.js: when the session becomes idle, the agent is told once what is missing.
import { spawnSync } from "node:child_process";

export const Vet = async ({ client, directory }) => {
  const told = new Set(); // the sessions that continue because they were told
  return {
    event: async ({ event }) => {
      if (event.type !== "session.idle") return;
      const id = event.properties.sessionID;
      const input = JSON.stringify({ stop_hook_active: told.delete(id), session_id: id });
      const judged = spawnSync("remand", ["vet", "--hook"], { cwd: directory, input, encoding: "utf8" });
      if (!judged.stdout) return;
      const { decision, reason } = JSON.parse(judged.stdout);
      if (decision !== "block") return;
      told.add(id);
      const body = { parts: [{ type: "text", text: reason }] };
      await client.session.prompt({ path: { id }, body });
    },
  };
};
