/**
 * What the host gives to everybody who imports `i18next`: a maker of instances, since nobody uses the one that the package
 * makes by itself. The build puts this in place of the package. `keyFromSelector` is asked for by react-i18next.
 */
export { createInstance, keyFromSelector } from "i18next-whole";
