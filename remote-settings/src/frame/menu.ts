/**
 * Pages below `/settings`, in the order of the menu. `textKey`: key of the page's title and menu
 * entry. `flag`: feature that shows the page; null if the page is always shown.
 */
export const settingsPages = {
  profile: { textKey: "profile", flag: null },
  security: { textKey: "security", flag: null },
  activity: { textKey: "activity", flag: null },
  data: { textKey: "data", flag: null },
  notifications: { textKey: "notifications", flag: "notifications" },
  billing: { textKey: "billing", flag: "billing" },
  payments: { textKey: "payments", flag: "payments" },
  feedback: { textKey: "feedback", flag: null },
  "delete-account": { textKey: "delete", flag: null },
} as const satisfies Record<string, { readonly textKey: string; readonly flag: string | null }>;

export type SettingsPageName = keyof typeof settingsPages;

const pageNames = Object.keys(settingsPages) as SettingsPageName[];

/**
 * Pages that are visible with these features. The host decides `billing` only by the name of the
 * environment.
 */
export function getVisiblePages(features: Readonly<Record<string, boolean>>): readonly SettingsPageName[] {
  return pageNames.filter((name) => settingsPages[name].flag === null || features[settingsPages[name].flag] === true);
}
