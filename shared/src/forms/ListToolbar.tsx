import { ListFilter } from "lucide-react";
import { styled } from "styled-components";

import { Button } from "../ui/Button.tsx";
import { visuallyHidden } from "../ui/layout.tsx";
import { media, s, space } from "../ui/tokens.ts";
import { TextField } from "./inputs.tsx";

export interface ListToolbarProps {
  /** Prefix of the tour targets `<prefix>-search` and `<prefix>-filter`. */
  readonly tourTargetPrefix: string;
  readonly searchLabel: string;
  readonly search: string;
  readonly onSearch: (search: string) => void;
  readonly filterLabel: string;
  readonly filterOpen: boolean;
  /** Id of the {@link FilterBox} that is shown below while `filterOpen`. */
  readonly panelId: string;
  readonly onFilterOpenChange: (open: boolean) => void;
}

/** Search field and filter button above a list. */
export function ListToolbar({
  tourTargetPrefix,
  searchLabel,
  search,
  onSearch,
  filterLabel,
  filterOpen,
  panelId,
  onFilterOpenChange,
}: ListToolbarProps) {
  return (
    <Toolbar>
      <div role="search" data-tour={`${tourTargetPrefix}-search`}>
        <TextField
          type="search"
          label={searchLabel}
          autoComplete="off"
          spellCheck={false}
          value={search}
          onChange={(event) => {
            onSearch(event.target.value);
          }}
        />
      </div>
      <Button
        tone="quiet"
        icon={<ListFilter aria-hidden />}
        aria-expanded={filterOpen}
        aria-controls={filterOpen ? panelId : undefined}
        data-tour={`${tourTargetPrefix}-filter`}
        onClick={() => {
          onFilterOpenChange(!filterOpen);
        }}
      >
        {filterLabel}
      </Button>
    </Toolbar>
  );
}

/** Frame of a list's filters. */
export const FilterBox = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
  padding: ${space(4)};
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
  background: ${s("surface")};
`;

/** Filters of a {@link FilterBox}, in columns where there is room. */
export const FilterFields = styled.div`
  display: grid;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 11rem), 1fr));
  gap: ${space(3)} ${space(4)};
`;

const Toolbar = styled.div`
  display: flex;
  align-items: flex-end;
  gap: ${space(3)};
  & > [role="search"] {
    flex: 1 1 auto;
    min-width: 0;
  }
  & > button {
    flex: none;
    white-space: nowrap;
  }
  ${media.mobile} {
    & > button {
      padding-inline: ${space(3)};
    }
    & > button > span {
      ${visuallyHidden}
    }
    & > [role="search"] label {
      margin-right: -56px;
    } /* lets the label run over the filter button, so that it stays on one line */
  }
`;
