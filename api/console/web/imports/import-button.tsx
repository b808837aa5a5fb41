import { Upload } from "lucide-react";
import type { ReactElement } from "react";
import { useAddress } from "../address/use-address.ts";
import { ImportDrawer } from "./import-drawer.tsx";
import type { ImportKind } from "./import-words.ts";

/** Opens imports of a kind. Which one is shown is in the address, so it survives a reload, and a colleague sees the same. */
export function ImportButton({ kind }: { readonly kind: ImportKind }): ReactElement {
  const [search, change] = useAddress();
  const opened = search.get("import");
  const shown = Number(opened);
  return (
    <>
      <button type="button" className="button" onClick={() => change({ import: "new" })}>
        <Upload size={14} aria-hidden /> Import
      </button>
      {opened !== null && (
        <ImportDrawer
          kind={kind}
          shown={Number.isInteger(shown) && shown > 0 ? shown : undefined}
          onShow={(id) => change({ import: String(id) })}
          onClose={() => change({ import: undefined })}
        />
      )}
    </>
  );
}
