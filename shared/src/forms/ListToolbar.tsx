import { ListFilter } from "lucide-react";
import { styled } from "styled-components";

import { Button } from "../ui/Button.tsx";
import { visuallyHidden } from "../ui/layout.tsx";
import { media, s, space } from "../ui/tokens.ts";
import { TextField } from "./inputs.tsx";

export interface ListToolbarProps {
  /** Targets of a tour are `<tour>-search` and `<tour>-filter`. */
  readonly tour: string;
  readonly searchLabel: string;
  readonly search: string;
  readonly onSearch: (search: string) => void;
  readonly filterLabel: string;
  readonly filterOpen: boolean;
  /** Id of the {@link FilterBox} that is drawn below while `filterOpen`. */
  readonly panelId: string;
  readonly onFilterOpenChange: (open: boolean) => void;
}

/** What stands above a list that can be searched and filtered. */
export function ListToolbar({
  tour,
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
      <div role="search" data-tour={`${tour}-search`}>
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
        data-tour={`${tour}-filter`}
        onClick={() => {
          onFilterOpenChange(!filterOpen);
        }}
      >
        {filterLabel}
      </Button>
    </Toolbar>
  );
}

/** Around the filters of a list. */
export const FilterBox = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
  padding: ${space(4)};
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
  background: ${s("surface")};
`;

/** The choices of a {@link FilterBox}, side by side where there is room. */
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
