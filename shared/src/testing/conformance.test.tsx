import { Page } from "../ui/index.ts";
import { conformance } from "./index.ts";

conformance({
  name: "settings",
  contract: "^1",
  namespaces: ["common"],
  routes: [{ path: "/settings/*", load: () => Promise.resolve({ default: () => <Page title="Profile" /> }) }],
});
