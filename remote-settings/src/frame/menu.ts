/**
 * The pages below `/settings` in the order of the menu. `text` is the key of a page's title and
 * menu entry; `flag` names the feature that shows it, without one it is always shown.
 */
export const menu = {
  profile: { text: "profile", flag: null },
  security: { text: "security", flag: null },
  activity: { text: "activity", flag: null },
  data: { text: "data", flag: null },
  notifications: { text: "notifications", flag: "notifications" },
  billing: { text: "billing", flag: "billing" },
  payments: { text: "payments", flag: "payments" },
  feedback: { text: "feedback", flag: null },
  "delete-account": { text: "delete", flag: null },
} as const satisfies Record<string, { readonly text: string; readonly flag: string | null }>;

export type SettingsPageName = keyof typeof menu;

const pageNames = Object.keys(menu) as SettingsPageName[];

/**
 * The pages that are shown with these features. The host decides `billing` by the environment
 * alone.
 */
export function getVisiblePages(features: Readonly<Record<string, boolean>>): readonly SettingsPageName[] {
  return pageNames.filter((name) => menu[name].flag === null || features[menu[name].flag] === true);
}
