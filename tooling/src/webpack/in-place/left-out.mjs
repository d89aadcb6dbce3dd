/**
 * What pages never reach of packages whose files no bundler can take apart: class methods, and components that a line of the
 * same file names. By the end of a file's path: a line with which something begins, and what stands in its place.
 */
const gone = (name) => `function ${name}() { throw new TypeError("left out of pages: ${name}"); }`;

export const leftOut = {
  // A router without data, loaders and prefetching: docs/decisions/0050.
  "react-router/dist/production/chunk-7RTFRKQW.mjs": [
    ["var RenderErrorBoundary = class extends React2.Component {", gone("RenderErrorBoundary")],
    ["RenderErrorBoundary.contextType = RSCRouterContext;"],
    ["var MemoizedDataRoutes = React3.memo(DataRoutes2);"],
    ["function usePrefetchBehavior(prefetch, theirElementProps) {", "function usePrefetchBehavior() { return [false, null, {}]; }"],
    ["function PrefetchPageLinks({ page, ...linkProps }) {", gone("PrefetchPageLinks")],
    ["var Form = React10.forwardRef(", "const Form = null;"],
    ['Form.displayName = "Form";'],
    ["function useViewTransitionState(to, { relative } = {}) {", gone("useViewTransitionState")],
    ["function useNavigateStable() {", gone("useNavigateStable")],
    ["  let dataRouterState = dataRouterOpts?.state;", "  const dataRouterState = void 0;"],
    ["function DefaultErrorComponent() {", gone("DefaultErrorComponent")],
  ],
  // Texts name no other text and no format, languages are two, and what is missing is only told to tests.
  "i18next/dist/esm/i18next.js": [
    ["function createProxy() {", gone("createProxy")],
    ["function keysFromSelector(selector, opts) {", gone("keysFromSelector")],
    ["class Formatter {", "const Formatter = null;"],
    ["  nest(str, fc, options = {}) {", "  nest(str) { return str; }"],
    ["      if (!objectNotReturned && (usedKey || usedDefault || updateMissing)) {"],
    ["  saveMissing(languages, namespace, key, fallbackValue, isUpdate, options = {}, clb = () => {}, hasLoadedNamespace = this.newestCloneHasLoadedNamespace || this.services?.utils?.hasLoadedNamespace) {"],
    ["  getUsedParamsDetails(options = {}) {"],
    ["  addResources(lng, ns, resources, options = {"],
    ["  removeResourceBundle(lng, ns) {"],
    ["  removeNamespaces(ns) {"],
    ["  needsPlural(code, options = {}) {"],
    ["  getPluralFormsOfKey(code, key, options = {}) {"],
    ["  hydrate(resources, lng) {"],
    ["  dir(lng) {"],
    ["  cloneInstance(options = {}, callback = noop) {"],
  ],
  // Objects are read as they are where nothing may be evaluated; nobody asks an error to be laid out.
  "zod/v4/core/schemas.js": [['export const $ZodObjectJIT = /*@__PURE__*/ core.$constructor("$ZodObjectJIT", (inst, def) => {', "export const $ZodObjectJIT = $ZodObject;"]],
  "zod/v4/classic/errors.js": [
    ['    _lazyMethod(proto, "format", (self) => (mapper) => core.formatError(self, mapper));'],
    ['    _lazyMethod(proto, "flatten", (self) => (mapper) => core.flattenError(self, mapper));'],
    ['    _lazyMethod(proto, "addIssue", (self) => (issue) => {'],
    ['    _lazyMethod(proto, "addIssues", (self) => (issues) => {'],
  ],
  // Remotes are scripts that are registered once, and nothing is loaded ahead.
  "@module-federation/runtime-core/dist/remote/index.js": [
    ["\tasync preloadRemote(preloadOptions) {"],
    ["\tremoveRemote(remote) {"],
    ["\tinitRawContainer(name, url, container) {"],
  ],
  "@module-federation/runtime-core/dist/utils/load.js": [
    ["\tif (isEsmRemoteType(type)) return loadEsmEntry({"],
    ['\tif (type === "system") return loadSystemJsEntry({'],
  ],
  "@module-federation/runtime-core/dist/utils/context.js": [["function optionsToMFContext(options) {", "function optionsToMFContext() {}"]],
};

/** A webpack loader: leaves those parts out of the file that it is given. */
export default function leaveOut(source) {
  const path = this.resourcePath.replaceAll("\\", "/");
  const [, parts] = Object.entries(leftOut).find(([file]) => path.endsWith(`/node_modules/${file}`)) ?? [];
  if (parts === undefined) throw new Error(`left-out.mjs knows no parts of ${path}`);
  return parts.reduce((text, [first, instead = ""]) => without(text, first, instead), source);
}

/** `first`, and all up to the line that ends it, which is as far in; only itself when it opens nothing. */
function without(text, first, instead) {
  const lines = text.split("\n");
  const at = lines.indexOf(first);
  if (at === -1 || lines.includes(first, at + 1)) throw new Error(`this version has not exactly one line "${first.trim()}", which left-out.mjs leaves out`);
  const indent = /^\s*/.exec(first)?.[0] ?? "";
  const closes = (line) => line.startsWith(indent) && /^[)}\]]/.test(line.slice(indent.length));
  let end = at;
  while (/[({[]$/.test(lines[end])) end = lines.findIndex((line, index) => index > end && closes(line));
  lines.splice(at, end - at + 1, instead);
  return lines.join("\n");
}
