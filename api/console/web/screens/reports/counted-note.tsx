import type { ReactElement } from "react";
import { filtersIn } from "../../address/filters.ts";
import type { AddressChange } from "../../address/use-address.ts";
import { useNamedFields } from "../../figures/use-named-fields.ts";
import { FilterChips } from "./filter-chips.tsx";

/** Says that a list has the rows behind a figure, and by which filters. Absent for a list that no figure opened. */
export function CountedNote({
  search,
  onChange,
}: {
  readonly search: URLSearchParams;
  readonly onChange: (change: AddressChange) => void;
}): ReactElement | null {
  const fields = useNamedFields();
  if (!search.has("filters")) return null;
  const basis = search.get("date_basis") === "click" ? " By the time of the click." : "";
  return (
    <div className="row wrap">
      <span className="muted">Rows behind this figure.{basis}</span>
      <FilterChips
        filters={filtersIn(search)}
        dimensions={fields.data?.dimensions ?? []}
        onChange={(filters) => onChange({ filters: filters.join(",") })}
      />
      <button
        type="button"
        className="button plain"
        onClick={() => onChange({ filters: undefined, date_basis: undefined })}
      >
        Show all rows
      </button>
    </div>
  );
}
