/**
 * Re-exports the package through the shared `react-router`. Without this file a second webpack
 * build in the same process omits the names that `export *` takes from a shared module.
 */
export * from "#react-router";
export { HydratedRouter, RouterProvider } from "react-router/dom";
