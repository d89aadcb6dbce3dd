import "@testing-library/jest-dom";

/** jest-axe brings no types of its own: the little that is used of it. */
declare module "jest-axe" {
  interface AxeResults {
    readonly violations: readonly { readonly id: string; readonly help: string; readonly nodes: readonly { readonly html: string }[] }[];
  }
  export function configureAxe(options?: { readonly rules?: Readonly<Record<string, { readonly enabled: boolean }>> }): (html: Element | string) => Promise<AxeResults>;
}
