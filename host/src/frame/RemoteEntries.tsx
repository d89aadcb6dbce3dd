import { space } from "@relicario/shared/ui";
import { Ellipsis } from "lucide-react";
import { useId, useLayoutEffect, useRef, useState, type RefObject } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router-dom";
import { styled } from "styled-components";

import { useLanguage } from "../settings/language.ts";
import { RemoteEntryLink, WithTooltip } from "./Entries.tsx";
import { EntryButton, EntryText } from "./styles.ts";
import { useRemoteEntries } from "./use-remote-entries.ts";

interface RemoteEntriesProps {
  readonly compact?: boolean;
  readonly onNavigate?: () => void;
}

/**
 * Entries that remotes add, for a `NavigationColumn` below the destinations. Those that do not fit
 * without scrolling are under "More".
 */
export function RemoteEntries({ compact = false, onNavigate }: RemoteEntriesProps) {
  const { t } = useTranslation("beta-sidebar");
  const { pathname } = useLocation();
  const entries = useRemoteEntries();
  const list = useRef<HTMLUListElement>(null);
  const fittingCount = useFittingCount(list, entries.length);
  const [toggled, setToggled] = useState<boolean | null>(null);
  const moreId = useId();
  if (entries.length === 0) return null;

  const directCount = entries.length <= fittingCount ? entries.length : Math.max(0, fittingCount - 1);
  const moreEntries = entries.slice(directCount);
  const isOpen = toggled ?? moreEntries.some(({ path }) => pathname === path || pathname.startsWith(`${path}/`));
  const renderItem = (entry: (typeof entries)[number]) => (
    <li key={entry.path}>
      <RemoteEntryLink entry={entry} compact={compact} onNavigate={onNavigate} />
    </li>
  );
  return (
    <NavigationList ref={list}>
      {entries.slice(0, directCount).map(renderItem)}
      {moreEntries.length > 0 && (
        <li>
          <WithTooltip compact={compact} label={t("more_action")}>
            <EntryButton
              type="button"
              aria-label={compact ? t("more_action") : undefined}
              aria-expanded={isOpen}
              aria-controls={isOpen ? moreId : undefined}
              onClick={() => {
                setToggled(!isOpen);
              }}
            >
              <Ellipsis aria-hidden />
              {!compact && <EntryText>{t("more_action")}</EntryText>}
            </EntryButton>
          </WithTooltip>
          {isOpen && <MoreList id={moreId}>{moreEntries.map(renderItem)}</MoreList>}
        </li>
      )}
    </NavigationList>
  );
}

/** Height of an entry with a title of two lines, and of the gap above it, in pixels. */
const entryHeight = 56;

/** Number of entries that fit into the list's column below its other lists, without scrolling. */
function useFittingCount(list: RefObject<HTMLElement | null>, entryCount: number): number {
  const language = useLanguage();
  const [fittingCount, setFittingCount] = useState(entryCount);
  useLayoutEffect(() => {
    const measure = () => {
      const column = list.current?.parentElement;
      const scroller = column?.parentElement;
      if (list.current === null || column == null || scroller == null) return;
      const otherLists = [...column.children].filter((child) => child !== list.current);
      const usedHeight = otherLists.reduce((sum, { clientHeight }) => sum + clientHeight, 0);
      const overflow = scroller.scrollHeight - scroller.clientHeight;
      setFittingCount(Math.max(0, Math.floor((column.clientHeight - overflow - usedHeight) / entryHeight)));
    };
    measure();
    window.addEventListener("resize", measure);
    return () => {
      window.removeEventListener("resize", measure);
    };
  }, [list, entryCount, language]); // titles differ in height between languages
  return fittingCount;
}

/**
 * Takes the space that the column around it has left, in which `RemoteEntries` measures what fits.
 */
export const NavigationColumn = styled.nav`
  flex: 1 0 auto;
  display: flex;
  flex-direction: column;
  gap: ${space(1)};
`;

export const NavigationList = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(1)};
`;

const MoreList = styled(NavigationList)`
  margin-top: ${space(1)};
`;
