/** In a remote, in the place of what lucide makes an icon with: the host's, so that each remote brings its drawings only. */
// eslint-disable-next-line relicario/boundaries -- not run here, but in the remotes' pages
export { createLucideIcon as default } from "@relicario/shared/ui";
