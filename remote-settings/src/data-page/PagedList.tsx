import { Button, SpacedRow } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

/** Lines that are drawn at a time. */
const pageSize = 100;

/** What was left out, one a line, all of it there to be seen. */
export function PagedList({ label, lines }: { readonly label: string; readonly lines: readonly string[] }) {
  const { t } = useTranslation("settings-data");
  const [visibleCount, setVisibleCount] = useState(pageSize);
  return (
    <>
      <Lines aria-label={label}>
        {lines.slice(0, visibleCount).map((line, index) => (
          <li key={index}>{line}</li>
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
