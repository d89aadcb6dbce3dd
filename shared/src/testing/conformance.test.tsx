import { Page } from "../ui/index.ts";
import { conformance } from "./index.ts";

conformance(
  {
    name: "settings",
    contract: "^2",
    title: { en: "Settings", es: "Ajustes" },
    routes: [{ path: "/settings/*", titleKey: "common:error.retry_action", access: "signed_in", shell: true }],
    namespaces: ["common"],
    capabilities: [],
    api_paths: [],
  },
  { routes: { "/settings/*": () => Promise.resolve({ default: () => <Page title="Profile" /> }) } },
);
