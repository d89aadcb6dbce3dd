import { pathToFileURL } from "node:url";

import type { PortalSettings } from "@relicario/tooling/portal";

const preload = pathToFileURL(`${import.meta.dirname}/loopback-names.mjs`).href;
const environment = { NODE_OPTIONS: `${process.env["NODE_OPTIONS"] ?? ""} --import=${preload}` };

/** For the processes that call each other by a name below `localhost`. */
export const loopbackNames: NonNullable<PortalSettings["environment"]> = {
  identity: environment,
  service: environment,
};
