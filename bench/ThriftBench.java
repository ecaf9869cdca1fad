// SPDX-License-Identifier: MIT
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.thrift2.generated.TColumn;
import org.apache.hadoop.hbase.thrift2.generated.TColumnValue;
import org.apache.hadoop.hbase.thrift2.generated.TGet;
import org.apache.hadoop.hbase.thrift2.generated.THBaseService;
import org.apache.hadoop.hbase.thrift2.generated.TPut;
import org.apache.hadoop.hbase.thrift2.generated.TResult;
import org.apache.hadoop.hbase.thrift2.generated.TScan;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.transport.TSocket;

/**
 * A plain client of HBase's Thrift2 gateway, doing what ClusterBench does; each thread has a connection of its own.
 *
 * usage: ThriftBench PORT
 */
public class ThriftBench {
  static final ByteBuffer F = bytes("f"), Q = bytes("q"), VALUE = ByteBuffer.wrap(new byte[100]);
  static final ByteBuffer LENGTHS = bytes("KeyOnlyFilter(true)"), NAMES = bytes("FirstKeyOnlyFilter()");
  static final int ROWS_A_CALL = 1000, RECORDS_OF_COPY = 5;

  static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0]);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready");
    for (String line; (line = in.readLine()) != null;) {
      String[] words = line.split(" ");
      int threads = Integer.parseInt(words[1]), start = Integer.parseInt(words[2]), count = Integer.parseInt(words[3]);
      ByteBuffer table = bytes(words[4]);
      long begin = System.nanoTime();
      if (words[0].equals("scan") || words[0].equals("names")) {
        scan(port, table, words[0].equals("names"), count);
      } else {
        each(port, table, words[0], threads, start, count);
      }
      System.out.println((System.nanoTime() - begin) / 1e9);
    }
  }

  static THBaseService.Client clientOf(TSocket socket) throws Exception {
    socket.open();
    return new THBaseService.Client(new TBinaryProtocol(socket));
  }

  static void scan(int port, ByteBuffer table, boolean names, int count) throws Exception {
    try (TSocket socket = new TSocket("127.0.0.1", port)) {
      THBaseService.Client client = clientOf(socket);
      TScan scan = new TScan().setCaching(ROWS_A_CALL);
      if (names) scan.setFilterString(NAMES);
      int scanner = client.openScanner(table, scan), seen = 0;
      for (List<TResult> rows; !(rows = client.getScannerRows(scanner, ROWS_A_CALL)).isEmpty();) seen += rows.size();
      client.closeScanner(scanner);
      if (seen < count) throw new IllegalStateException(seen + " rows");
    }
  }

  static void each(int port, ByteBuffer table, String work, int threads, int first, int count) throws Exception {
    List<Thread> all = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int from = first + t * count / threads, to = first + (t + 1) * count / threads;
      all.add(new Thread(() -> {
        try (TSocket socket = new TSocket("127.0.0.1", port)) {
          THBaseService.Client client = clientOf(socket);
          for (int number = from; number < to; number++) act(client, table, work, number);
        } catch (Exception e) {
          e.printStackTrace();
          System.exit(1);
        }
      }));
    }
    for (Thread thread : all) thread.start();
    for (Thread thread : all) thread.join();
  }

  static void act(THBaseService.Client client, ByteBuffer table, String work, int number) throws Exception {
    ByteBuffer row = bytes(String.format("r%05d", number));
    switch (work) {
      case "stat":
        look(client, table, new TGet(row).setFilterString(LENGTHS));
        return;
      case "cat":
        look(client, table, new TGet(row).setFilterString(LENGTHS));
        look(client, table, new TGet(row));
        return;
      case "put":
        client.put(table, put(row, Q));
        return;
      case "write":
        write(client, table, row);
        return;
      case "copy":
        for (int i = 0; i < RECORDS_OF_COPY; i++) putIfAbsent(client, table, put(row, bytes("record" + i)));
        write(client, table, row);
        return;
      default:
        throw new IllegalArgumentException(work);
    }
  }

  static void look(THBaseService.Client client, ByteBuffer table, TGet get) throws Exception {
    get.addToColumns(new TColumn(F).setQualifier(Q));
    if (client.get(table, get).getColumnValuesSize() != 1) throw new IllegalStateException("no row");
  }

  static TPut put(ByteBuffer row, ByteBuffer qualifier) {
    return new TPut(row, List.of(new TColumnValue(F, qualifier, VALUE).setTimestamp(System.currentTimeMillis())));
  }

  static void write(THBaseService.Client client, ByteBuffer table, ByteBuffer row) throws Exception {
    TScan raw = new TScan().setStartRow(row).setLimit(1).setMaxVersions(2);
    raw.addToColumns(new TColumn(F));
    raw.setAttributes(Map.of(bytes("_raw_"), ByteBuffer.wrap(new byte[] {-1})));
    client.getScannerResults(table, raw, 1);
    putIfAbsent(client, table, put(row, Q));
  }

  static void putIfAbsent(THBaseService.Client client, ByteBuffer table, TPut put) throws Exception {
    client.checkAndPut(table, put.bufferForRow(), F, bytes("none"), null, put);
  }
}
