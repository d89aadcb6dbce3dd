import { Page } from "../ui/index.ts";
import { conformance } from "./index.ts";

conformance(
  {
    name: "settings",
    contract: "^2",
    title: { en: "Settings", es: "Ajustes" },
    routes: [{ path: "/settings/*", titleKey: "settings:profile.title", access: "signed_in", shell: true }],
    namespaces: ["settings"],
    capabilities: [],
    api_paths: [],
  },
  { routes: { "/settings/*": () => Promise.resolve({ default: () => <Page title="Profile" /> }) } },
);
