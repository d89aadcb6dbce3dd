import { Button, SpacedRow, Verbatim } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

/** Number of lines that are rendered at first, and added by each press of the button. */
const pageSize = 100;

interface LeftOutLine {
  /** Title of the entry, or its place in the file. */
  readonly title: string;
  readonly reason: string;
}

interface PagedListProps {
  readonly label: string;
  readonly lines: readonly LeftOutLine[];
}

/** Lists entries that were left out, one per line. A button shows more of them. */
export function PagedList({ label, lines }: PagedListProps) {
  const { t } = useTranslation("settings-data");
  const [visibleCount, setVisibleCount] = useState(pageSize);
  return (
    <>
      <Lines aria-label={label}>
        {lines.slice(0, visibleCount).map(({ title, reason }, index) => (
          <li key={index}>
            <Verbatim>{title}</Verbatim>: {reason}
          </li>
        ))}
      </Lines>
      {lines.length > visibleCount && (
        <SpacedRow>
          <Button
            tone="quiet"
            size="small"
            onClick={() => {
              setVisibleCount(visibleCount + pageSize);
            }}
          >
            {t("review.more_action", { number: lines.length - visibleCount })}
          </Button>
        </SpacedRow>
      )}
    </>
  );
}

const Lines = styled.ul`
  overflow-wrap: anywhere;
`;
